// Heads switched off, and what the translation loses.

import { arrowKeys, byId, element, number, refill, sum } from "./dom";
import { type Heads, KINDS, type Kind, type Model } from "./model";
import type { Pieces } from "./pieces";

const NAMES: Record<Kind, string> = { encoder: "Encoder", decoder: "Decoder", cross: "Cross" };
const HALF = 2; // the loss, in nats, that is drawn in half the colour

/** How much of the colour a loss gets, from 0 to 1; a gain gets none. */
const colouring = (loss: number) => Math.max(0, loss) / (HALF + Math.max(0, loss));

export interface Loss {
  before: { text: string; target: number[]; logProbabilities: number[] };
  /** The same with heads off: its own translation, and how likely it finds the one before. */
  after: { text: string; logProbabilities: number[] };
}

export class HeadsView {
  readonly heads: Heads;
  private readonly losses = new Map<string, number>();

  constructor(
    private readonly model: Model,
    private readonly pieces: Pieces,
    private readonly changed: () => void,
    measure: () => void,
  ) {
    this.heads = model.allHeads();
    for (const kind of KINDS) {
      const group = element("div", { class: "switches", role: "group", "aria-label": `Heads of ${NAMES[kind].toLowerCase()} attention`, id: `switches-${kind}` });
      arrowKeys(group);
      byId("switchboard").append(element("div", {}, element("h3", {}, NAMES[kind]), group));
    }
    byId("all-on").addEventListener("click", () => {
      if (!this.anyOff) return;
      for (const kind of KINDS) this.heads[kind].fill(1);
      this.draw();
      changed();
    });
    byId("measure").addEventListener("click", measure);
    this.draw();
  }

  get anyOff(): boolean {
    return KINDS.some((kind) => this.heads[kind].includes(0));
  }

  isOff = (kind: Kind, layer: number, head: number) => this.heads[kind][layer * this.model.heads + head] === 0;

  toggle = (kind: Kind, layer: number, head: number) => {
    this.heads[kind][layer * this.model.heads + head] = this.isOff(kind, layer, head) ? 1 : 0;
    this.draw();
    this.changed();
  };

  /** Forgets what was measured for another sentence. */
  forget(): void {
    if (!this.losses.size) return;
    this.losses.clear();
    this.draw();
  }

  /** Every head once, while `isWanted`: what `lossOf` gives with this one alone switched off. */
  async measure(lossOf: (heads: Heads) => Promise<number>, isWanted: () => boolean): Promise<void> {
    for (const kind of KINDS)
      for (let n = 0; n < this.heads[kind].length && isWanted(); n++) {
        const heads = this.model.allHeads();
        heads[kind][n] = 0;
        this.losses.set(`${kind} ${n}`, await lossOf(heads));
        if (n % this.model.heads === 0) {
          this.draw();
          await new Promise((resolve) => setTimeout(resolve)); // lets the browser draw
        }
      }
    this.draw();
  }

  private draw(): void {
    for (const kind of KINDS)
      refill(
        byId(`switches-${kind}`),
        [...this.heads[kind]].map((factor, n) => {
          const [layer, head] = [Math.floor(n / this.model.heads), n % this.model.heads];
          const loss = this.losses.get(`${kind} ${n}`);
          const said = loss === undefined ? "" : `, costs ${number(loss)}`;
          const button = element(
            "button",
            { type: "button", "aria-pressed": String(factor === 1), "aria-label": `${NAMES[kind]}, layer ${layer + 1}, head ${head + 1}${said}`, click: () => this.toggle(kind, layer, head) },
            loss === undefined ? `${layer + 1}.${head + 1}` : number(loss, 1),
          );
          button.style.setProperty("--loss", String(colouring(loss ?? 0)));
          return button;
        }),
      );
    byId("all-on").ariaDisabled = String(!this.anyOff); // a disabled one would lose the focus
  }

  show(loss: Loss | null): void {
    byId("loss").hidden = !loss;
    byId("no-loss").hidden = !!loss;
    if (!loss) return;
    const { before, after } = loss;
    byId("before").textContent = before.text;
    const known = new Set(before.text.split(" "));
    byId("after").replaceChildren(...after.text.split(" ").flatMap((word) => [known.has(word) ? word : element("mark", {}, word), " "]));
    byId("loss-title").textContent =
      `Log-probability of the translation with all heads: ${number(sum(before.logProbabilities))} before, ${number(sum(after.logProbabilities))} now. Piece by piece:`;
    byId("loss-pieces").replaceChildren(
      ...before.target.map((id, n) => {
        const change = after.logProbabilities[n] - before.logProbabilities[n];
        const item = element("li", {}, element("span", { class: "piece" }, this.pieces.label(id)), element("small", {}, (change > 0 ? "+" : "") + number(change)));
        item.style.setProperty("--loss", String(colouring(-change)));
        return item;
      }),
    );
  }
}
