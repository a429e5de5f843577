export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

const line = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const label = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus as this program writes it. */
export function parseSamples(text: string): readonly Sample[] {
  return text.split("\n").flatMap((written) => {
    const [, name, labels = "", value] = line.exec(written) ?? [];
    if (name === undefined) return [];
    const pairs = labels
      .matchAll(label)
      .map(([, key = "", quoted = ""]): [string, string] => [
        key,
        quoted.replace(/\\(.)/g, (_, one: string) =>
          one === "n" ? "\n" : one,
        ),
      ]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}
