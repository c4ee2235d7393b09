// Byte-pair encoding by the vocabulary of the page: sentences to ids and back, as sentencepiece does it.

const SPACE = "\u2581";
export const START = 2;
export const END = 3;
const FIRST = 4; // before it: padding, unknown, start and end, which stand for no text

export class Pieces {
  private readonly ids = new Map<string, number>();
  private readonly words = new Map<string, number[]>();

  /** `texts` by id; of two pieces, the one with the smaller id was learned first. */
  constructor(readonly texts: string[]) {
    texts.forEach((text, id) => id >= FIRST && this.ids.set(text, id));
  }

  encode(sentence: string): number[] {
    if (!sentence) return [];
    return sentence.split(" ").flatMap((word) => {
      let ids = this.words.get(word);
      if (!ids) this.words.set(word, (ids = this.encodeWord(SPACE + word)));
      return ids;
    });
  }

  /** Joins the two neighbours whose union was learned first, the leftmost of equals, while there are any. */
  private encodeWord(word: string): number[] {
    const parts = [...word];
    for (;;) {
      let best = Infinity;
      let at = -1;
      for (let n = 0; n + 1 < parts.length; n++) {
        const id = this.ids.get(parts[n] + parts[n + 1]);
        if (id !== undefined && id < best) [best, at] = [id, n];
      }
      if (at < 0) break;
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
    return parts.flatMap((part) => this.ids.get(part) ?? this.bytes(part));
  }

  private bytes(character: string): number[] {
    const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, "0");
    return [...new TextEncoder().encode(character)].map((byte) => this.ids.get(`<0x${hex(byte)}>`)!);
  }

  decode(ids: number[]): string {
    const bytes: number[] = [];
    const encoder = new TextEncoder();
    for (const id of ids.filter((id) => id >= FIRST)) {
      const byte = /^<0x(..)>$/.exec(this.texts[id]);
      bytes.push(...(byte ? [parseInt(byte[1], 16)] : encoder.encode(this.texts[id])));
    }
    const text = new TextDecoder().decode(new Uint8Array(bytes));
    return text.replace(SPACE, (space, at) => (at ? space : "")).replaceAll(SPACE, " ").replaceAll("\n", " ");
  }

  /** What a person reads of a piece: a low dot for a space inside, nothing for one in front. */
  label(id: number): string {
    if (id === START) return "start";
    if (id === END) return "end";
    return this.texts[id].replace(SPACE, "") || "space";
  }

  /** Whether the piece continues the word before it. */
  continues(id: number): boolean {
    return id >= FIRST && !this.texts[id].startsWith(SPACE);
  }
}
