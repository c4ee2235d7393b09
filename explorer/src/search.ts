// Beam search (section 6.1 of the paper), as src/aiayn/decoding/beam.py does it, with a record of every step.

import { type Heads, logSoftmax, type Model, type Source, type Stepped } from "./model";
import { END, START } from "./pieces";

export interface Settings {
  beam: number;
  alpha: number;
  extraLength: number;
}

/** A hypothesis, one piece longer than its parent. The score is of one that ended. */
export interface Node {
  parent: Node | null;
  piece: number;
  logProbability: number;
  total: number;
  score?: number;
  /** Whether the search goes on with it; one that ended, or cannot win any more, it gives up. */
  fate: "live" | "ended" | "no room" | "cannot win";
}

/** The best extensions of all live hypotheses, best first: twice as many as the beam holds. */
export interface Step {
  candidates: Node[];
  penalty: number;
}

export interface Found {
  /** The best that ended; it has a score. */
  best: Node | null;
  steps: Step[];
}

/** ((5 + length) / 6)^alpha; the length counts the end symbol. */
export const lengthPenalty = (length: number, alpha: number) => ((5 + length) / 6) ** alpha;

/** The pieces of a hypothesis, without start and end symbol. */
export function piecesOf(node: Node | null): number[] {
  const pieces: number[] = [];
  for (let at = node; at?.parent; at = at.parent) if (at.piece !== END) pieces.unshift(at.piece);
  return pieces;
}

export async function search(model: Model, source: Source, heads: Heads, settings: Settings): Promise<Found> {
  const limit = source.ids.length - 1 + settings.extraLength;
  const largest = lengthPenalty(limit + 1, settings.alpha);
  const start: Node = { parent: null, piece: START, logProbability: 0, total: 0, fate: "live" };
  let live = [start];
  let origin = [0];
  let best: Node | null = null;
  let last: Stepped | undefined;
  const steps: Step[] = [];
  for (let length = 1; length <= limit + 1 && live.length; length++) {
    last = await model.step(source, live.map((node) => node.piece), origin, heads, last);
    const penalty = lengthPenalty(length, settings.alpha);
    const found = extensions(live, last.logits, 2 * settings.beam, length > limit);
    let kept = 0;
    for (const [rank, { node }] of found.entries()) {
      if (node.piece !== END) {
        if (kept++ >= settings.beam) node.fate = "no room";
      } else if (rank >= settings.beam) {
        node.fate = "no room"; // an end counts only within the beam, so a beam of one is greedy search
      } else {
        node.fate = "ended";
        node.score = node.total / penalty;
        if (!best || node.score > best.score!) best = node;
      }
    }
    // a hypothesis only loses probability as it grows, and the penalty is largest at the limit
    const toBeat = (best?.score ?? -Infinity) * largest;
    for (const { node } of found) if (node.fate === "live" && node.total <= toBeat) node.fate = "cannot win";
    const next = found.filter(({ node }) => node.fate === "live");
    live = next.map(({ node }) => node);
    origin = next.map((candidate) => candidate.origin);
    steps.push({ candidates: found.map(({ node }) => node), penalty });
  }
  return { best, steps };
}

interface Extension {
  node: Node;
  origin: number;
}

/** The best extensions of hypotheses by one piece, best first. */
function extensions(live: Node[], logits: Float32Array[], number: number, mustEnd: boolean): Extension[] {
  const found: Extension[] = [];
  logits.forEach((row, origin) => {
    const parent = live[origin];
    logSoftmax(row).forEach((logProbability, piece) => {
      const total = parent.total + logProbability;
      if (mustEnd && piece !== END) return;
      if (found.length === number && total <= found[number - 1].node.total) return;
      let at = found.length;
      while (at > 0 && found[at - 1].node.total < total) at--;
      found.splice(at, 0, { node: { parent, piece, logProbability, total, fate: "live" }, origin });
      if (found.length > number) found.pop();
    });
  });
  return found;
}
