// The two graphs of `aiayn export --to onnx`, run by onnxruntime.

import * as ort from "onnxruntime-web/wasm";
import { START } from "./pieces";

export const KINDS = ["encoder", "decoder", "cross"] as const;
export type Kind = (typeof KINDS)[number];
/** A factor for the output of each head, layer by layer: 1, or 0 for a head that is off. */
export type Heads = Record<Kind, Float32Array>;
/** Weights of one head: a row for each query, a column for each key. */
export type Weights = Float32Array[];
/** Of one kind: layer, head. */
export type Maps = Weights[][];

export interface Source {
  ids: number[];
  keys: ort.Tensor;
  values: ort.Tensor;
  attention: Maps;
}

/** The logits of hypotheses' next pieces, and what the next step needs. */
export interface Stepped {
  logits: Float32Array[];
  keys: ort.Tensor;
  values: ort.Tensor;
  attention: ort.Tensor;
  sourceAttention: ort.Tensor;
}

/** A target that was given piece by piece: how likely each was, and what was attended to. */
export interface Forced {
  target: number[];
  logProbabilities: number[];
  decoder: Maps;
  cross: Maps;
}

const ids = (values: number[]) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [values.length]);

export class Model {
  private constructor(
    private readonly encoder: ort.InferenceSession,
    private readonly decoder: ort.InferenceSession,
    readonly layers: number,
    readonly heads: number,
    private readonly keySize: number,
    private readonly valueSize: number,
  ) {}

  static async load(runtime: ArrayBuffer, encoder: ArrayBuffer, decoder: ArrayBuffer, shape: number[]): Promise<Model> {
    ort.env.wasm.wasmBinary = runtime;
    ort.env.wasm.numThreads = 1; // more need a page that its server isolates
    const open = (graph: ArrayBuffer) => ort.InferenceSession.create(graph, { executionProviders: ["wasm"] });
    const [layers, heads, keySize, valueSize] = shape;
    return new Model(await open(encoder), await open(decoder), layers, heads, keySize, valueSize);
  }

  allHeads(): Heads {
    const ones = () => new Float32Array(this.layers * this.heads).fill(1);
    return { encoder: ones(), decoder: ones(), cross: ones() };
  }

  private factors(values: Float32Array): ort.Tensor {
    return new ort.Tensor("float32", values, [this.layers, this.heads]);
  }

  /** Encodes ids that end in the end symbol. */
  async encode(source: number[], heads: Heads): Promise<Source> {
    const found = await this.encoder.run({ source: ids(source), heads: this.factors(heads.encoder) });
    const attention = this.perHead((layer, head) => {
      const first = (layer * this.heads + head) * source.length;
      return source.map((_, query) => row(found.attention, first + query));
    });
    return { ids: source, keys: found.source_keys, values: found.source_values, attention };
  }

  /** Appends a piece to each hypothesis; `origin` says which of the last step's it continues. */
  async step(source: Source, newest: number[], origin: number[], heads: Heads, last?: Stepped): Promise<Stepped> {
    const empty = (size: number) => new ort.Tensor("float32", new Float32Array(0), [this.layers, 1, this.heads, 0, size]);
    const found = await this.decoder.run({
      newest: ids(newest),
      origin: ids(origin),
      keys: last?.keys ?? empty(this.keySize),
      values: last?.values ?? empty(this.valueSize),
      source_keys: source.keys,
      source_values: source.values,
      heads: this.factors(heads.decoder),
      source_heads: this.factors(heads.cross),
    });
    return {
      logits: newest.map((_, n) => row(found.logits, n)),
      keys: found.next_keys,
      values: found.next_values,
      attention: found.attention,
      sourceAttention: found.source_attention,
    };
  }

  /** Lets the decoder read `target`, whose last piece is the end symbol. */
  async force(source: Source, target: number[], heads: Heads): Promise<Forced> {
    const logProbabilities: number[] = [];
    const steps: Stepped[] = [];
    for (let n = 0; n < target.length; n++) {
      const last = steps.at(-1);
      const step = await this.step(source, [n ? target[n - 1] : START], [0], heads, last);
      logProbabilities.push(logSoftmax(step.logits[0])[target[n]]);
      steps.push(step);
    }
    const maps = (of: (step: Stepped) => ort.Tensor) =>
      this.perHead((layer, head) => steps.map((step) => row(of(step), layer * this.heads + head)));
    return { target, logProbabilities, decoder: maps((s) => s.attention), cross: maps((s) => s.sourceAttention) };
  }

  private perHead<T>(make: (layer: number, head: number) => T): T[][] {
    const range = (length: number) => [...Array(length).keys()];
    return range(this.layers).map((layer) => range(this.heads).map((head) => make(layer, head)));
  }
}

/** A row of a tensor along its last dimension. */
function row(tensor: ort.Tensor, number: number): Float32Array {
  const length = tensor.dims.at(-1)!;
  return (tensor.data as Float32Array).subarray(number * length, (number + 1) * length);
}

export function logSoftmax(logits: Float32Array): Float32Array {
  let largest = -Infinity;
  for (const logit of logits) largest = Math.max(largest, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - largest);
  const norm = largest + Math.log(sum);
  return logits.map((logit) => logit - norm);
}
