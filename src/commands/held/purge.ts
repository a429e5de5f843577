import type { Sha256 } from "../../address/hash.ts";
import { NothingHeld } from "../../errors/index.ts";
import type { HoldingParts } from "../../mirror/upkeep/held-packages.ts";
import { formatAmount } from "../progress/figures.ts";
import { formatDocument } from "../progress/json-document.ts";
import { findHeld, namePackage } from "./held-packages.ts";

/** Archives that replicas share, which would come back from there. */
interface SharedArchives {
  delete(sha256: Sha256): Promise<void>;
}

/**
 * `provender purge SPEC`: forgets stored archives, so that they are fetched again when they are asked for. What was seen
 * first and decided of them stays. Throws NothingHeld, MalformedAddress, and RecordUnreadable before anything is forgotten.
 */
export async function runPurge(
  parts: HoldingParts & { readonly shared: SharedArchives | undefined },
  { spec, json }: { readonly spec: string; readonly json: boolean },
  stdout: (text: string) => void,
): Promise<void> {
  const { packages, problems } = await findHeld(parts, spec);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  const purged = packages.flatMap((held) =>
    held.stored ? { ...namePackage(held), size: held.stored.size } : [],
  );
  if (purged.length === 0) throw new NothingHeld(spec);
  for (const { sha256 } of purged) {
    await parts.shared?.delete(sha256);
    await parts.blobs.delete(sha256);
  }
  const freed = purged.reduce((sum, { size }) => sum + size, 0);
  const lines = purged.map(({ filename }) => `${filename} is forgotten.\n`);
  const sum = `${purged.length} archives, ${formatAmount(freed)}: they are fetched again when they are asked for, and have to be what was seen first.\n`;
  stdout(json ? formatDocument({ purged, freed }) : lines.join("") + sum);
}
