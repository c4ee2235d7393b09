// The positional encodings that are added to the pieces (section 3.5).

import { byId, drawMatrix, element, number } from "./dom";
import type { Pieces } from "./pieces";

export class PositionsView {
  private source: number[] = [];
  private readonly slider = byId<HTMLInputElement>("position");

  constructor(
    private readonly pieces: Pieces,
    private readonly width: number,
  ) {
    this.slider.addEventListener("input", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(source: number[]): void {
    this.source = source;
    this.slider.max = String(source.length - 1);
    this.slider.value = String(Math.min(Number(this.slider.value), source.length - 1));
    this.draw();
  }

  private draw(): void {
    const rows = this.source.map((_, position) => sinusoids(position, this.width));
    const chosen = Number(this.slider.value);
    // all sines on the left, all cosines on the right: interleaved, they would be stripes
    drawMatrix(byId<HTMLCanvasElement>("sinusoids"), rows.map((row) => [...half(row, 0), ...half(row, 1)]), this.width);
    byId("position-title").textContent = `Position ${chosen}: ${this.pieces.label(this.source[chosen] ?? 0)}`;
    byId("likenesses").replaceChildren(
      ...rows.map((row, n) => {
        const likeness = row.reduce((sum, value, i) => sum + value * rows[chosen][i], 0) / (this.width / 2);
        const item = element("li", { class: n === chosen ? "chosen" : "" }, element("span", {}, this.pieces.label(this.source[n])), element("small", {}, number(likeness)));
        item.style.setProperty("--weight", String(Math.max(0, likeness)));
        return item;
      }),
    );
  }
}

const half = (row: Float64Array, first: number) => row.filter((_, n) => n % 2 === first);

/** PE(pos, 2i) = sin(pos / 10000^(2i / width)), PE(pos, 2i + 1) = cos of the same. */
function sinusoids(position: number, width: number): Float64Array {
  return Float64Array.from({ length: width }, (_, n) => {
    const angle = position * 10000 ** (-(n - (n % 2)) / width);
    return n % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}
