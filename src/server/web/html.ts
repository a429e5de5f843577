/** HTML in which whatever is no text of ours is escaped. */
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
  const texts = strings.map((text, index) => `${text}${render(parts[index])}`);
  return new Html(texts.join(""));
}

function render(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  return typeof part === "object"
    ? part.map(render).join("")
    : escapeHtml(String(part));
}

/** What turns the direction of text, or cannot be seen, is shown by its number: what it names has to look like itself. */
function escapeHtml(text: string): string {
  return text
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? "")
    .replaceAll(unseen, (character) => {
      const number = character.codePointAt(0) ?? 0;
      return `\\u{${number.toString(16)}}`;
    });
}

const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
