import type { Version } from "../../address/version.ts";
import type { Refusals } from "./refused-versions.ts";

/** Newest versions that have no documents at once only where the origin fails. */
const mostAtOnce = 3;
/** Milliseconds within which they were found so in one look. */
const oneLook = 3_600_000;

/**
 * The newest versions, where all of them were found to be phantoms in one look: an
 * origin that answers 404 to everything is failing, and what it lists stays listed.
 * Empty otherwise.
 */
export function listVanishing(
  newestFirst: readonly Version[],
  refusals: Refusals,
): readonly Version[] {
  const newest = newestFirst.slice(0, mostAtOnce);
  const found = newest.flatMap((version) => {
    const { kind, since } = refusals.get(version) ?? {};
    return kind === "phantom" && since ? [since.getTime()] : [];
  });
  const isOneLook = Math.max(...found) - Math.min(...found) <= oneLook;
  return found.length === mostAtOnce && isOneLook ? newest : [];
}
