import type { Sha256 } from "../../address/hash.ts";
import { failure } from "../../errors/index.ts";
import type { HeldParts } from "../../mirror/upkeep/held.ts";
import { formatAmount } from "../output/figures.ts";
import { formatDocument } from "../output/json-document.ts";
import { findHeld, nameModule, namePackage, type SpecOptions } from "./held.ts";

/** The archives that replicas share; what is purged on the disk alone would come back from there. */
interface SharedArchives {
  delete(sha256: Sha256): Promise<void>;
}

/**
 * `provender purge SPEC`: forgets stored archives, so that they are fetched again when they are asked for. What was seen
 * first and decided of them stays. Throws nothing-held, malformed-address, and record-unreadable before anything is forgotten.
 */
export async function runPurge(
  parts: HeldParts & { readonly shared: SharedArchives | undefined },
  { spec, hosts, json }: SpecOptions & { readonly spec: string },
  stdout: (text: string) => void,
): Promise<void> {
  const held = await findHeld(parts, spec, hosts);
  const [problem] = held.problems;
  if (problem !== undefined) throw problem;
  const purged = held.packages.flatMap((one) =>
    one.stored ? { ...namePackage(one), size: one.stored.size } : [],
  );
  const modules = held.modules.flatMap((one) =>
    one.stored && one.sha256
      ? { ...nameModule(one), sha256: one.sha256, size: one.stored.size }
      : [],
  );
  const all = [...purged, ...modules];
  if (all.length === 0) throw failure("nothing-held", spec);
  for (const sha256 of new Set(all.map((one) => one.sha256))) {
    await parts.shared?.delete(sha256);
    await parts.blobs.delete(sha256);
  }
  const freed = all.reduce((sum, { size }) => sum + size, 0);
  const names = [
    ...purged.map(({ filename }) => filename),
    ...modules.map(({ module, version }) => `${module} ${version}`),
  ];
  const lines = names.map((name) => `${name} is forgotten.\n`).join("");
  const sum = `${all.length} archives, ${formatAmount(freed)}: they are fetched again when they are asked for, and have to be what was seen first.\n`;
  stdout(json ? formatDocument({ purged, modules, freed }) : lines + sum);
}
