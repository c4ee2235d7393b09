// How beam search builds the translation: a tree of hypotheses, and the candidates of each step.

import { arrowKeys, byId, curve, element, number, percent, refill, svg } from "./dom";
import type { Pieces } from "./pieces";
import { END } from "./pieces";
import { type Found, type Node, piecesOf } from "./search";

const COLUMN = 104; // pixels
const ROW = 46;
const NODE = { width: 82, height: 36 };
const PLAY = 700; // milliseconds for a step

export class BeamView {
  private found?: Found;
  private timer = 0;
  private readonly slider = byId<HTMLInputElement>("step");

  constructor(private readonly pieces: Pieces) {
    arrowKeys(byId("tree-nodes"));
    this.slider.addEventListener("input", () => this.choose());
    byId("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  show(found: Found): void {
    this.stop();
    this.found = found;
    this.slider.max = String(found.steps.length);
    this.slider.value = this.slider.max;
    this.drawTree(found);
    this.choose();
  }

  private play(): void {
    byId("play").textContent = "Stop";
    this.slider.value = "1";
    this.choose();
    this.timer = window.setInterval(() => {
      if (this.slider.value === this.slider.max) return this.stop();
      this.slider.value = String(Number(this.slider.value) + 1);
      this.choose();
    }, PLAY);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
    byId("play").textContent = "Play";
  }

  private drawTree(found: Found): void {
    const root = found.steps[0].candidates[0].parent!;
    const columns = [[root], ...found.steps.map(({ candidates }) => candidates.filter((node) => node.fate !== "no room"))];
    const at = new Map<Node, { x: number; y: number }>();
    columns.forEach((nodes, step) => nodes.forEach((node, row) => at.set(node, { x: step * COLUMN, y: row * ROW })));
    const isBest = new Set<Node>();
    for (let node = found.best; node; node = node.parent) isBest.add(node);
    const lines: SVGElement[] = [];
    const buttons: HTMLElement[] = [];
    columns.forEach((nodes, step) => {
      for (const node of nodes) {
        const { x, y } = at.get(node)!;
        const classes = `${node.fate.replace(" ", "-")} ${isBest.has(node) ? "best" : ""}`;
        if (node.parent) {
          const from = at.get(node.parent)!;
          const d = curve(from.x + NODE.width, from.y + NODE.height / 2, x, y + NODE.height / 2);
          lines.push(svg("path", { d, class: classes, "data-step": step }));
        }
        const value = node.score === undefined ? number(node.total) : `score ${number(node.score)}`;
        const button = element(
          "button",
          { type: "button", class: classes, "data-step": step, "aria-label": `Step ${step}: ${this.text(node)}, ${value}, ${node.fate}` },
          element("span", {}, this.pieces.label(node.piece)),
          element("small", {}, step ? value : ""),
        );
        button.style.transform = `translate(${x}px, ${y}px)`;
        button.addEventListener("click", () => {
          this.stop();
          this.slider.value = String(Math.max(1, step));
          this.choose();
        });
        buttons.push(button);
      }
    });
    const [width, height] = [columns.length * COLUMN, Math.max(...columns.map((nodes) => nodes.length)) * ROW];
    const edges = byId("tree-edges") as unknown as SVGElement;
    edges.setAttribute("width", String(width));
    edges.setAttribute("height", String(height));
    edges.replaceChildren(...lines);
    byId("tree-nodes").style.cssText = `width: ${width}px; height: ${height}px`;
    refill(byId("tree-nodes"), buttons);
  }

  private choose(): void {
    const step = Number(this.slider.value);
    for (const part of document.querySelectorAll<HTMLElement>("#tree [data-step]")) part.classList.toggle("later", Number(part.dataset.step) > step);
    const tree = byId("tree");
    tree.scrollLeft = (step + 1) * COLUMN - tree.clientWidth; // the step at the right edge, where all do not fit
    const { candidates, penalty } = this.found!.steps[step - 1];
    byId("step-title").textContent = `Step ${step} of ${this.found!.steps.length}`;
    byId("penalty").replaceChildren(`((5 + ${step}) / 6)`, element("sup", {}, "\u03b1"), ` = ${number(penalty)}`);
    byId("candidates").replaceChildren(
      ...candidates.map((node) => {
        const share = Math.exp(node.logProbability);
        const bar = element("td", { class: "share" }, percent(share));
        bar.style.setProperty("--share", String(share));
        const prefix = this.pieces.decode(piecesOf(node.parent));
        return element(
          "tr",
          { class: node.fate.replace(" ", "-") },
          element("td", {}, prefix, this.pieces.continues(node.piece) || !prefix ? "" : " ", element("b", {}, node.piece === END ? "end" : this.pieces.label(node.piece))),
          bar,
          element("td", {}, number(node.total)),
          element("td", {}, node.score === undefined ? "" : number(node.score)),
          element("td", {}, { live: "goes on", ended: "has ended", "no room": "no room", "cannot win": "cannot win" }[node.fate]),
        );
      }),
    );
  }

  private text(node: Node): string {
    return this.pieces.decode(piecesOf(node)) || "start";
  }
}
