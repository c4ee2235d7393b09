// Which pieces each head attends to.

import { arrowKeys, byId, curve, drawMatrix, element, percent, refill, svg } from "./dom";
import { KINDS, type Kind, type Maps } from "./model";
import type { Pieces } from "./pieces";

const ROW = 30; // pixels
const DRAWN_FROM = 0.02; // weights below would be no line that one sees
const KEYS_NAMED = 3; // to a screen reader

export interface Attended {
  maps: Record<Kind, Maps>;
  source: number[];
  /** What the decoder has read, the start symbol first, and what it then writes, the end symbol last. */
  read: number[];
  written: number[];
}

export class AttentionView {
  private attended?: Attended;
  private layer = 2; // at first one that aligns words
  private head = 3;

  /** `isOff` says whether a head is switched off, `toggle` switches it. */
  constructor(
    private readonly pieces: Pieces,
    private readonly isOff: (kind: Kind, layer: number, head: number) => boolean,
    toggle: (kind: Kind, layer: number, head: number) => void,
  ) {
    for (const input of document.querySelectorAll("input[name=kind]")) input.addEventListener("change", () => this.draw());
    arrowKeys(byId("thumbnails"));
    arrowKeys(byId("queries"));
    byId("head-on").addEventListener("change", () => toggle(this.kind, this.layer, this.head));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  private get kind(): Kind {
    const chosen = document.querySelector<HTMLInputElement>("input[name=kind]:checked")?.value;
    return KINDS.find((kind) => kind === chosen) ?? "cross";
  }

  show(attended: Attended): void {
    this.attended = attended;
    this.draw();
  }

  private draw(): void {
    if (!this.attended) return;
    const { maps, source, read, written } = this.attended;
    const queries = this.kind === "encoder" ? source : written;
    const keys = this.kind === "decoder" ? read : source;
    refill(
      byId("thumbnails"),
      maps[this.kind].flatMap((heads, layer) => heads.map((_, head) => this.thumbnail(layer, head, keys.length))),
    );
    const title = `Layer ${this.layer + 1}, head ${this.head + 1}`;
    byId("chosen-head").textContent = title;
    byId<HTMLInputElement>("head-on").checked = !this.isOff(this.kind, this.layer, this.head);
    byId("query-title").textContent = this.kind === "encoder" ? "this piece" : "writing this piece";
    byId("key-title").textContent = { encoder: "attends to", decoder: "attends to what it has written", cross: "attends to the source" }[this.kind];
    byId("links").dataset.kind = this.kind;
    this.drawLinks(queries, keys, maps[this.kind][this.layer][this.head]);
  }

  private thumbnail(layer: number, head: number, columns: number): HTMLElement {
    const isOff = this.isOff(this.kind, layer, head);
    const canvas = element("canvas", { "aria-hidden": "true" });
    const button = element(
      "button",
      {
        type: "button",
        "aria-pressed": String(layer === this.layer && head === this.head),
        "aria-label": `Layer ${layer + 1}, head ${head + 1}${isOff ? ", off" : ""}`,
        class: isOff ? "off" : "",
        click: () => {
          [this.layer, this.head] = [layer, head];
          this.draw();
        },
      },
      canvas,
    );
    queueMicrotask(() => drawMatrix(canvas, this.attended!.maps[this.kind][layer][head], columns));
    return button;
  }

  private drawLinks(queries: number[], keys: number[], weights: ArrayLike<number>[]): void {
    const lines = byId("lines") as unknown as SVGElement;
    const height = ROW * Math.max(queries.length, keys.length);
    lines.setAttribute("viewBox", `0 0 100 ${height}`);
    lines.style.height = `${height}px`;
    const middle = (n: number, of: number) => ROW * (n + 0.5) + ((height / ROW - of) * ROW) / 2;
    const keyItems = keys.map((id) => element("li", {}, element("span", { class: "piece" }, this.text(id)), element("small")));
    const paths = queries.map((_, query) =>
      [...Array.from(weights[query]).entries()]
        .filter(([, weight]) => weight > DRAWN_FROM)
        .map(([key, weight]) => {
          const d = curve(0, middle(query, queries.length), 100, middle(key, keys.length));
          return svg("path", { d, "stroke-opacity": weight, "stroke-width": 1 + 3 * weight });
        }),
    );
    lines.replaceChildren(...paths.flat());
    byId("keys").replaceChildren(...keyItems);
    const buttons = queries.map((id, query) => this.queryButton(id, keys, weights[query]));
    let [hovered, focused]: (number | null)[] = [null, null];
    const choose = () => {
      const chosen = hovered ?? focused;
      buttons.forEach((button, query) => button.classList.toggle("chosen", query === chosen));
      paths.forEach((row, query) => row.forEach((path) => path.classList.toggle("faint", chosen !== null && query !== chosen)));
      keyItems.forEach((item, key) => {
        const weight = chosen === null ? 0 : (weights[chosen][key] ?? 0);
        item.style.setProperty("--weight", String(weight));
        item.lastElementChild!.textContent = weight > 0.005 ? percent(weight) : "";
      });
    };
    buttons.forEach((button, query) => {
      const on = (event: string, react: () => void) => button.addEventListener(event, () => (react(), choose()));
      on("pointerenter", () => (hovered = query));
      on("pointerleave", () => (hovered = null));
      on("focus", () => (focused = query));
      on("blur", () => (focused = null));
      button.addEventListener("click", () => button.focus()); // which Safari does not do by itself
    });
    refill(byId("queries"), buttons.map((button) => element("li", {}, button)));
  }

  private queryButton(id: number, keys: number[], weights: ArrayLike<number>): HTMLButtonElement {
    const ranked = keys.map((_, key) => key).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
    const said = ranked.slice(0, KEYS_NAMED).map((key) => `${this.pieces.label(keys[key])} ${percent(weights[key] ?? 0)}`);
    return element("button", { type: "button", class: "piece", "aria-label": `${this.pieces.label(id)} attends to ${said.join(", ")}` }, this.text(id));
  }

  private text(id: number): string {
    return (this.pieces.continues(id) ? "\u00b7" : "") + this.pieces.label(id);
  }
}
