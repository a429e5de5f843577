/** One value of a text in the format of Prometheus. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/;
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Parses samples and skips other lines. */
export function parseExposition(text: string): readonly Sample[] {
  return text.split("\n").flatMap((written) => {
    const [, name, labels = "", value] = line.exec(written) ?? [];
    if (name === undefined) return [];
    const named = [...labels.matchAll(label)].map(
      ([, key = "", value = ""]) => [
        key,
        value.replace(/\\(.)/g, (_, escaped) =>
          escaped === "n" ? "\n" : String(escaped),
        ),
      ],
    );
    const pairs = Object.fromEntries(named) as Sample["labels"];
    return [{ name, labels: pairs, value: Number(value) }];
  });
}

/** The value of a series without labels; undefined where it has none, and while it is not known (NaN). */
export function valueOf(
  samples: readonly Sample[],
  name: string,
): number | undefined {
  const value = samples.find((sample) => sample.name === name)?.value;
  return Number.isNaN(value) ? undefined : value;
}

/** Sums the values of a series by one of its labels. */
export function valuesBy(
  samples: readonly Sample[],
  name: string,
  key: string,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { labels, value } of samples.filter((one) => one.name === name)) {
    const of = labels[key] ?? "";
    found.set(of, (found.get(of) ?? 0) + value);
  }
  return found;
}
