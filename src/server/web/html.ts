/** HTML in which all foreign text is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

/** Texts are escaped, lists joined; nothing stands for what is undefined or false. */
export function html(
  strings: TemplateStringsArray,
  ...parts: readonly Part[]
): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)));
}

function render(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  return String(part)
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? "")
    .replaceAll(unseen, (character) => {
      const number = character.codePointAt(0) ?? 0;
      return `\\u{${number.toString(16)}}`;
    });
}

/** Invisible or changing the direction of text: shown by their number, so that two names that look alike are alike. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
