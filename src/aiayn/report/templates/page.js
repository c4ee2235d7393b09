/* What the page does beyond showing: values under the pointer, series to switch off, tables to sort, columns to
   hide. Without it everything is still there. Figures carry their data in data- attributes (report/figure_data.py). */
"use strict";

/** @typedef { {x: number, y: number, name: string, group: Element, isBar?: boolean} } Point in units of the SVG's viewBox */

/** @param {SVGSVGElement} svg @returns {Point[]} the data points of the series that are shown */
const points = svg => [...svg.querySelectorAll("[data-series]:not(.off)")].flatMap(group => {
  const name = group.dataset.series;
  const path = group.querySelector(":scope > path");
  const corners = (path?.getAttribute("d").match(/[ML] [-\d.]+ [-\d.]+/g) ?? []).map(corner => corner.split(" "));
  if (path?.getAttribute("d").includes("z")) { // a bar: the middle of its upper edge
    const xs = corners.map(([, x]) => +x);
    const top = Math.min(...corners.map(([, , y]) => +y));
    return [{x: (Math.min(...xs) + Math.max(...xs)) / 2, y: top, name, group, isBar: true}];
  }
  const marks = [...group.querySelectorAll("use")].map(use => [, use.getAttribute("x"), use.getAttribute("y")]);
  return (corners.length ? corners : marks).map(([, x, y]) => ({x: +x, y: +y, name, group}));
});

const RESOLUTION = 0.01; // coordinates are written with two decimals

/** @param {Point} point @param {"x" | "y"} axis @returns {string} the axis's label and the point's value */
const value = (point, axis) => {
  const axes = point.group.closest("[data-x]");
  const {scale, limits: [first, last], points: [from, to], label, names} = JSON.parse(axes.dataset[axis]);
  const valueAt = place => {
    const part = (place - from) / (to - from);
    return scale === "log" ? first * (last / first) ** part : first + (last - first) * part;
  };
  // several bars stand around a whole number
  const number = names || (axis === "x" && point.isBar) ? Math.round(valueAt(point[axis])) : valueAt(point[axis]);
  const error = Math.abs(valueAt(point[axis] + RESOLUTION) - valueAt(point[axis]));
  // the fewest digits that the coordinates cannot distinguish from this number
  const digits = Math.abs(number) <= error ? 0 : [1, 2, 3, 4, 5, 6].find(count => Math.abs(+number.toPrecision(count) - number) <= error) ?? 7;
  const rounded = digits && (+number.toPrecision(digits)).toLocaleString("en", {maximumSignificantDigits: digits});
  const shown = names ? names[number] : String(rounded);
  return label ? `${label}: ${shown}` : shown;
};

const tip = document.body.appendChild(document.createElement("div"));
tip.id = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
const mark = document.createElementNS("http://www.w3.org/2000/svg", "circle");
mark.setAttribute("r", "5");
mark.id = "mark";

/** @param {SVGSVGElement} svg @param {Point} point */
const show = (svg, point) => {
  tip.textContent = `${point.name}\n${value(point, "x")}\n${value(point, "y")}`;
  tip.hidden = false;
  mark.setAttribute("cx", String(point.x));
  mark.setAttribute("cy", String(point.y));
  svg.append(mark);
  anchor = mark;
  place();
};

let /** @type {Element} */ anchor = mark; // the element beside which the value is shown
const place = () => {
  const {right, top} = anchor.getBoundingClientRect();
  const left = Math.min(right + 6, document.documentElement.clientWidth - tip.offsetWidth - 4);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${top - tip.offsetHeight - 6}px`;
};
addEventListener("scroll", place, {capture: true, passive: true});

/** @param {SVGSVGElement} svg whose value is no longer shown, if it was */
const hide = svg => {
  if (mark.parentElement !== svg) return;
  tip.hidden = true;
  mark.remove();
};

/** @param {SVGSVGElement} svg */
const showValuesOf = svg => {
  let /** @type {Point | undefined} */ current;
  const showNearest = event => {
    const {x, y} = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const distance = point => Math.hypot(point.x - x, point.y - y);
    current = points(svg).reduce((best, point) => (!best || distance(point) < distance(best) ? point : best), undefined);
    if (current && distance(current) < 30) show(svg, current);
    else hide(svg);
  };
  svg.addEventListener("pointermove", showNearest);
  svg.addEventListener("pointerdown", showNearest);
  svg.addEventListener("pointerleave", event => event.pointerType === "mouse" && hide(svg)); // after a touch it stays
  svg.addEventListener("pointercancel", () => hide(svg)); // the touch scrolls
  svg.addEventListener("blur", () => hide(svg));
  svg.tabIndex = 0;
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "Figure: the arrow keys show the values of its points");
  svg.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const all = points(svg);
    if (event.key === "Escape") hide(svg);
    if (!step || !all.length || event.target !== svg) return;
    const before = current ? all.findIndex(({x, y, name}) => x === current.x && y === current.y && name === current.name) : -1;
    current = all[(Math.max(before + step, before < 0 ? 0 : -1) + all.length) % all.length];
    show(svg, current);
    event.preventDefault();
  });
  for (const key of svg.querySelectorAll("[data-key]")) {
    const toggle = () => {
      const off = key.classList.toggle("off");
      for (const part of svg.querySelectorAll("[data-series], [data-key]"))
        if ((part.dataset.series ?? part.dataset.key) === key.dataset.key) part.classList.toggle("off", off);
      key.setAttribute("aria-pressed", String(!off));
      hide(svg);
    };
    key.addEventListener("click", toggle);
    if (!key.querySelector("text")) continue; // the line beside the name: one stop for the keyboard is enough
    key.setAttribute("tabindex", "0");
    key.setAttribute("role", "button");
    key.setAttribute("aria-pressed", "true");
    key.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      toggle();
      event.preventDefault();
    });
  }
};

/** @param {HTMLTableElement} table of attention weights, each in the title of its cell */
const showWeightsOf = table => {
  const cells = [...table.querySelectorAll("td[title]")];
  const columns = table.tHead.rows[0].cells.length - 1;
  let current = -1;
  const showWeight = number => {
    hideWeight();
    mark.remove();
    current = number;
    anchor = cells[number];
    anchor.classList.add("shown");
    tip.textContent = anchor.ariaLabel;
    tip.hidden = false;
    place();
  };
  const hideWeight = () => {
    if (table.contains(anchor)) tip.hidden = true;
    cells[current]?.classList.remove("shown");
  };
  cells.forEach((cell, number) => {
    cell.ariaLabel = cell.title;
    cell.removeAttribute("title"); // or the browser would show it too
    for (const kind of ["pointermove", "pointerdown"]) cell.addEventListener(kind, () => showWeight(number));
  });
  table.addEventListener("pointerleave", event => event.pointerType === "mouse" && hideWeight());
  for (const kind of ["pointercancel", "blur"]) table.addEventListener(kind, hideWeight);
  table.tabIndex = 0;
  table.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    if (event.key === "Escape") hideWeight();
    if (!step) return;
    const next = current < 0 ? 0 : current + step;
    if (cells[next]) showWeight(next);
    event.preventDefault();
  });
};

/** @param {HTMLTableRowElement} row @param {number} column @returns {HTMLTableCellElement | undefined} which may span further columns */
const cellAt = (row, column) => {
  let end = 0;
  return [...row.cells].find(cell => (end += +(cell.dataset.span ?? 1)) > column);
};

/** @param {HTMLTableCellElement | undefined} cell @returns {string} without remarks */
const textOf = cell => (cell?.querySelector("a, span") ?? cell?.firstChild)?.textContent.trim() ?? "";

/** @param {HTMLTableSectionElement} body @returns {HTMLTableRowElement[][]} a row of the paper's with ours below it; others alone */
const unitsOf = body => {
  const units = [];
  for (const row of body.rows) {
    if (row.matches(".ours") && units.at(-1)?.[0].matches(".paper")) units.at(-1).push(row);
    else units.push([row]);
  }
  return units;
};

/** @param {HTMLTableRowElement[]} unit @param {number} column @returns {number | string} ours, or the paper's where ours is not comparable */
const sortedBy = (unit, column) => {
  const cells = unit.map(row => cellAt(row, column)).filter(textOf);
  const text = textOf(column ? cells.findLast(cell => !cell.matches(".quiet")) ?? cells.at(-1) : cells[0]);
  const plain = text.replace("−", "-").replaceAll(",", "").replace(/^[<>≈]/, "").replace(/(\d)K$/, "$1e3");
  const exponent = /·10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/.exec(plain)?.[1].replace(/./g, digit => String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(digit))) ?? 0;
  const number = parseFloat(plain) * 10 ** Number(exponent);
  return Number.isNaN(number) ? text : number;
};

/** @param {HTMLTableElement} table */
const makeSortable = table => {
  const headings = [...table.tHead.rows[0].cells];
  const bodies = [...table.tBodies].map(body => ({body, rows: [...body.rows], units: unitsOf(body)}));
  const hasBlocks = bodies.filter(({units}) => units.length > 1).length > 1; // as table 3's (A) to (E): each is sorted
  const sort = (column, direction) => {
    for (const {body, rows} of bodies) body.append(...rows); // the order of the page, also among equals
    if (!direction) return;
    const compare = (a, b) => {
      const [left, right] = [sortedBy(a, column), sortedBy(b, column)];
      if (typeof left === typeof right) return direction * (typeof left === "number" ? left - right : left.localeCompare(right));
      return typeof left === "number" ? -1 : 1; // what is no number comes last
    };
    if (hasBlocks) for (const {body, units} of bodies) body.append(...units.toSorted(compare).flat());
    else bodies[0].body.append(...bodies.flatMap(({units}) => units).sort(compare).flat());
  };
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    button.title = "Sort; a third click restores the order";
    heading.append(button);
    button.addEventListener("click", () => {
      const next = {ascending: "descending", descending: null}[heading.ariaSort] ?? (heading.ariaSort ? null : "ascending");
      for (const other of headings) other.ariaSort = null;
      heading.ariaSort = next;
      sort(column, {ascending: 1, descending: -1}[next] ?? 0);
    });
  });
};

/** @param {HTMLTableElement} table */
const addColumnMenu = table => {
  const menu = document.createElement("details");
  menu.className = "columns";
  menu.append(Object.assign(document.createElement("summary"), {textContent: "Columns"}));
  const hidden = new Set();
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if (!column) return; // it names the row
    const box = Object.assign(document.createElement("input"), {type: "checkbox", checked: true});
    const label = document.createElement("label");
    if (heading.classList.contains("minor")) label.className = "minor"; // a phone shows neither
    label.append(box, " ", ...heading.cloneNode(true).childNodes);
    menu.append(label);
    box.addEventListener("change", () => {
      if (box.checked) hidden.delete(column);
      else hidden.add(column);
      for (const row of table.rows) {
        let begin = 0;
        for (const cell of row.cells) {
          const span = +(cell.dataset.span ?? 1);
          const left = [...Array(span).keys()].filter(n => !hidden.has(begin + n)).length;
          cell.hidden = !left;
          cell.colSpan = left || 1;
          begin += span;
        }
      }
    });
  });
  table.closest(".scroll").before(menu);
};

for (const svg of document.querySelectorAll("figure svg:has([data-series])")) showValuesOf(svg);
for (const table of document.querySelectorAll(".heat")) showWeightsOf(table);
for (const table of document.querySelectorAll("table:has(thead):not(.heat)")) {
  for (const cell of table.querySelectorAll("td[colspan]")) cell.dataset.span = String(cell.colSpan);
  if (table.tHead.rows[0].cells.length > 6) addColumnMenu(table);
  if (table.querySelectorAll("tbody tr").length > 2) makeSortable(table);
}
