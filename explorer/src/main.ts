// The page: a sentence goes in; its translation, and how it came about, come out.

import { AttentionView } from "./attention";
import { BeamView } from "./beam";
import { byId, element, number, sum } from "./dom";
import { HeadsView } from "./heads";
import { type Forced, type Heads, Model, type Source } from "./model";
import { END, Pieces, START } from "./pieces";
import { PositionsView } from "./positions";
import { type Found, piecesOf, search, type Settings } from "./search";

interface PageSettings extends Settings {
  /** Layers, heads, and the sizes of a key and of a value. */
  shape: number[];
  width: number;
  pieces: string[];
}

interface Translated {
  source: Source;
  found: Found;
  text: string;
  forced: Forced;
  milliseconds: number;
}

const LONGEST = 128; // pieces; with more, the page would stand still for seconds

const settings: PageSettings = JSON.parse(byId("settings").textContent!);
const pieces = new Pieces(settings.pieces);
const input = byId<HTMLTextAreaElement>("sentence");
const [beam, alpha] = [byId<HTMLInputElement>("beam"), byId<HTMLInputElement>("alpha")];

/** Data that the page holds as gzip in base64. */
async function embedded(id: string): Promise<ArrayBuffer> {
  const holder = byId(id);
  const text = atob(holder.textContent!);
  holder.remove();
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const loading = Promise.all([embedded("runtime"), embedded("encoder"), embedded("decoder")]).then(([runtime, encoder, decoder]) =>
  Model.load(runtime, encoder, decoder, settings.shape),
);

async function translate(model: Model, sentence: string, heads: Heads, chosen: Settings): Promise<Translated> {
  const start = performance.now();
  const source = await model.encode([...pieces.encode(sentence), END], heads);
  const found = await search(model, source, heads, chosen);
  const target = piecesOf(found.best);
  const text = pieces.decode(target);
  const milliseconds = performance.now() - start;
  return { source, found, text, forced: await model.force(source, [...target, END], heads), milliseconds };
}

/** One after the other, because the model does one thing at a time; of what waits, only the newest. */
let newest = 0;
let running: Promise<void> = Promise.resolve();
function inTurn(job: () => Promise<void>): void {
  const turn = ++newest;
  running = running.then(() => (turn === newest ? job() : undefined)).catch((error) => say(String(error)));
}

function say(text: string): void {
  byId("status").textContent = text;
}

async function start(): Promise<void> {
  const model = await loading;
  const refresh = () => inTurn(update);
  const heads = new HeadsView(model, pieces, refresh, () => inTurn(measure));
  const attention = new AttentionView(pieces, heads.isOff, heads.toggle);
  const beams = new BeamView(pieces);
  const positions = new PositionsView(pieces, settings.width);
  let shown: { key: string; all: Translated } | undefined;

  async function update(): Promise<void> {
    const sentence = input.value.trim().replace(/\s+/g, " ");
    byId("results").hidden = !sentence;
    if (!sentence) {
      byId("translation").textContent = "";
      return say("Type an English sentence.");
    }
    const length = pieces.encode(sentence).length;
    if (length > LONGEST) {
      byId("results").hidden = true;
      byId("translation").textContent = "";
      return say(`${length} pieces; this page takes ${LONGEST} at most. Shorten the sentence.`);
    }
    const chosen = { ...settings, beam: Number(beam.value), alpha: Number(alpha.value) };
    byId("beam-value").textContent = beam.value;
    byId("alpha-value").textContent = number(chosen.alpha, 1);
    const key = JSON.stringify([sentence, chosen.beam, chosen.alpha]);
    if (shown?.key !== key) {
      heads.forget();
      shown = { key, all: await translate(model, sentence, model.allHeads(), chosen) };
    }
    const { all } = shown;
    const now = heads.anyOff ? await translate(model, sentence, heads.heads, chosen) : all;
    const { source, found, forced } = now;
    byId("translation").textContent = now.text;
    say(`${source.ids.length} pieces, translated in ${Math.round(now.milliseconds)} ms; score ${number(found.best?.score ?? NaN)}${heads.anyOff ? "; heads are off" : ""}`);
    byId("pieces").replaceChildren(...source.ids.map((id) => element("li", { class: `piece ${pieces.continues(id) ? "continues" : ""} ${id === END ? "end" : ""}` }, pieces.label(id))));
    const read = [START, ...forced.target.slice(0, -1)];
    attention.show({ maps: { encoder: source.attention, decoder: forced.decoder, cross: forced.cross }, source: source.ids, read, written: forced.target });
    beams.show(found);
    positions.show(source.ids);
    const { target, logProbabilities } = all.forced;
    const after = heads.anyOff && (await model.force(source, target, heads.heads)).logProbabilities;
    heads.show(after ? { before: { text: all.text, target, logProbabilities }, after: { text: now.text, logProbabilities: after } } : null);
  }

  async function measure(): Promise<void> {
    if (!shown) return;
    const { source, forced } = shown.all;
    const turn = newest;
    await heads.measure(async (off) => {
      const read = off.encoder.includes(0) ? await model.encode(source.ids, off) : source;
      return sum(forced.logProbabilities) - sum((await model.force(read, forced.target, off)).logProbabilities);
    }, () => turn === newest);
  }

  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(refresh, 200);
  };
  input.addEventListener("input", soon);
  for (const slider of [beam, alpha]) slider.addEventListener("input", soon);
  for (const button of document.querySelectorAll<HTMLButtonElement>("#examples button"))
    button.addEventListener("click", () => {
      input.value = button.textContent!;
      refresh();
    });
  refresh();
  await running;
}

/** For the browser's console, and for tests. */
const explorer = {
  ready: start(),
  encode: (sentence: string) => pieces.encode(sentence),
  translate: async (sentence: string, chosen: Partial<Settings> = {}) => {
    const model = await loading;
    const { text, milliseconds } = await translate(model, sentence, model.allHeads(), { ...settings, ...chosen });
    return { text, milliseconds };
  },
};
Object.assign(globalThis, { explorer });
explorer.ready.catch((error) => say(`The model cannot be loaded: ${error}`));
