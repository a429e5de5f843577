import { z } from "zod";
import { isVersion, type Version } from "../../address/version.ts";

/** A version with its date; undefined for what has another form, of which nothing is said. */
const entry = z
  .union([
    z
      .object({
        attributes: z.object({
          version: z.string(),
          "published-at": z.string(),
        }),
      })
      .transform(({ attributes }) => ({
        version: attributes.version,
        published: attributes["published-at"],
      })),
    z
      .object({ id: z.string(), published: z.string() })
      .transform(({ id, published }) => ({
        version: id.replace(/^v/, ""),
        published,
      })),
  ])
  .optional()
  .catch(undefined);

/** `included` of registry.terraform.io (JSON:API), `versions` of registry.opentofu.org. */
const answer = z.object({
  included: z.array(entry).catch([]),
  versions: z.array(entry).catch([]),
});

/** Reads what a registry says of when versions were published; of what it says in no such form, nothing. */
export function parseModuleDates(value: unknown): ReadonlyMap<Version, Date> {
  const parsed = answer.safeParse(value).data;
  const dates = new Map<Version, Date>();
  for (const one of [
    ...(parsed?.included ?? []),
    ...(parsed?.versions ?? []),
  ]) {
    if (one === undefined || !isVersion(one.version)) continue;
    const date = new Date(one.published);
    if (!Number.isNaN(date.getTime())) dates.set(one.version, date);
  }
  return dates;
}
