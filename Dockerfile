# The two commands in a container: docker build -t aiayn . && docker run aiayn (make test: docker run
# aiayn make test). On a GPU: --build-arg TORCH_INDEX= and docker run --gpus all.
FROM python:3.11-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home aiayn
USER aiayn
WORKDIR /home/aiayn/project

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY --chown=aiayn requirements.lock ./
RUN python -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch==2.13.0 \
    && .venv/bin/python -m pip install --no-cache-dir --no-deps --require-hashes --requirement requirements.lock

COPY --chown=aiayn . ./
RUN .venv/bin/python -m pip install --no-cache-dir --no-deps --editable . \
    && touch .venv/.ready
CMD ["make", "repro"]
