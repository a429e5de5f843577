import type {
  HeldPackage,
  HoldingParts,
} from "../../mirror/upkeep/held-packages.ts";
import { formatAmount } from "../progress/figures.ts";
import { formatDocument } from "../progress/json-document.ts";
import { formatTable } from "../progress/table.ts";
import { findHeld, namePackage } from "./held-packages.ts";

/** `provender list [SPEC]`: returns the exit status, 1 when a record cannot be believed; each is named. */
export async function runList(
  parts: HoldingParts,
  { spec, json }: { readonly spec: string | undefined; readonly json: boolean },
  output: {
    readonly stdout: (text: string) => void;
    readonly stderr: (text: string) => void;
  },
): Promise<number> {
  const { packages, problems } = await findHeld(parts, spec);
  const failures = problems.map(({ code, message }) => ({ code, message }));
  output.stdout(
    json
      ? formatDocument({ packages: packages.map(describe), problems: failures })
      : formatPackages(packages),
  );
  for (const { message } of problems) output.stderr(`${message}\n`);
  return problems.length > 0 ? 1 : 0;
}

function describe(held: HeldPackage) {
  const { stored, firstSeen, signedBy } = held;
  return {
    ...namePackage(held),
    stored: stored !== undefined,
    size: stored?.size ?? null,
    firstSeen: firstSeen?.toISOString() ?? null,
    lastUsed: stored ? new Date(stored.usedAt).toISOString() : null,
    signedBy: signedBy ?? null,
  };
}

function formatPackages(packages: readonly HeldPackage[]): string {
  const rows = packages.map((held) => {
    const { provider, version, platform } = namePackage(held);
    const { stored, firstSeen, signedBy = "-" } = held;
    return [
      ...[provider, version, platform],
      stored === undefined ? "listed" : formatAmount(stored.size),
      firstSeen === undefined ? "-" : minuteOf(firstSeen),
      stored === undefined ? "-" : minuteOf(new Date(stored.usedAt)),
      signedBy,
    ];
  });
  const head = [
    ...["PROVIDER", "VERSION", "PLATFORM", "STORED"],
    ...["FIRST SEEN", "LAST USED", "SIGNED BY"],
  ];
  const stored = packages.flatMap((held) => held.stored ?? []);
  const bytes = stored.reduce((sum, { size }) => sum + size, 0);
  const table = rows.length > 0 ? formatTable([head, ...rows]) : "";
  return `${table}${packages.length} packages, ${stored.length} of them stored (${formatAmount(bytes)}).\n`;
}

function minuteOf(moment: Date): string {
  return moment.toISOString().slice(0, 16);
}
