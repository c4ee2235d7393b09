// Elements, keys, and what is drawn on canvases.

type Attribute = string | number | boolean | ((event: Event) => void);

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const ARROWS: Record<string, number[]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** A group of buttons with one tab stop; an arrow key moves to the nearest button in its direction. */
export function arrowKeys(group: HTMLElement): void {
  const buttons = () => [...group.querySelectorAll("button")];
  group.addEventListener("focusin", (event) => {
    for (const button of buttons()) button.tabIndex = button === event.target ? 0 : -1;
  });
  group.addEventListener("keydown", (event) => {
    if (!(event.key in ARROWS) || !document.activeElement) return;
    event.preventDefault();
    const [right, down] = ARROWS[event.key];
    const from = document.activeElement.getBoundingClientRect();
    let [nearest, shortest]: [HTMLElement | null, number] = [null, Infinity];
    for (const button of buttons()) {
      const to = button.getBoundingClientRect();
      const [x, y] = [to.x + to.width / 2 - from.x - from.width / 2, to.y + to.height / 2 - from.y - from.height / 2];
      const [along, across] = [x * right + y * down, Math.abs(x * down) + Math.abs(y * right)];
      if (along > 1 && along + 3 * across < shortest) [nearest, shortest] = [button, along + 3 * across];
    }
    nearest?.focus();
  });
}

/** Replaces a group's content; the button that had the tab stop, or the focus, keeps it by its place. */
export function refill(group: HTMLElement, children: Node[]): void {
  const before = [...group.querySelectorAll("button")];
  const focused = before.indexOf(document.activeElement as HTMLButtonElement);
  const stop = Math.max(0, before.findIndex((button) => button.tabIndex === 0));
  group.replaceChildren(...children);
  const after = [...group.querySelectorAll("button")];
  after.forEach((button, n) => (button.tabIndex = n === Math.min(stop, after.length - 1) ? 0 : -1));
  if (focused >= 0) after[Math.min(focused, after.length - 1)]?.focus();
}

/** Draws a matrix of numbers from -1 to 1, a rectangle each: positive ones in one colour, negative in another. */
export function drawMatrix(canvas: HTMLCanvasElement, rows: ArrayLike<number>[], columns: number): void {
  canvas.width = columns;
  canvas.height = rows.length;
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(canvas);
  const colours = ["--source", "--target"].map((name) => style.getPropertyValue(name));
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      context.fillStyle = colours[row[x] < 0 ? 1 : 0];
      context.globalAlpha = Math.abs(row[x]);
      context.fillRect(x, y, 1, 1);
    }
  });
}

export function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** A curve from one point to another on its right. */
export function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2;
  return `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
}

export const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
export const percent = (share: number) => `${Math.round(100 * share)} %`;
/** With a minus sign, which zero has none of. */
export const number = (value: number, digits = 2) => value.toFixed(digits).replace(/^-(?=.*[1-9])/, "\u2212").replace("-", "");
