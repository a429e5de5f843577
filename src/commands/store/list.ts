import type {
  HeldModule,
  HeldPackage,
  HeldParts,
  StoredArchive,
} from "../../mirror/upkeep/held.ts";
import { formatAmount, formatTable } from "../output/table.ts";
import {
  describeError,
  formatDocument,
  type Output,
} from "../output/report.ts";
import { findHeld, nameModule, namePackage, type SpecOptions } from "./held.ts";

/**
 * Runs `provender list [SPEC]`. Returns the exit status, 1 when a record is
 * damaged; each is named.
 */
export async function runList(
  parts: HeldParts,
  { spec, hosts, json }: SpecOptions & { readonly spec: string | undefined },
  output: Output,
): Promise<number> {
  const { packages, modules, problems } = await findHeld(parts, spec, hosts);
  const document = {
    packages: packages.map(describe),
    modules: modules.map(describeModule),
    problems: problems.map(describeError),
  };
  const text = `${formatPackages(packages)}${formatModules(modules)}`;
  output.stdout(json ? formatDocument(document) : text);
  for (const { message } of problems) output.stderr(`${message}\n`);
  return problems.length > 0 ? 1 : 0;
}

function describe(held: HeldPackage) {
  const { stored, firstSeen, signedBy } = held;
  return {
    ...namePackage(held),
    ...describeStored(stored),
    firstSeen: firstSeen.toISOString(),
    signedBy: signedBy ?? null,
  };
}

function describeModule(held: HeldModule) {
  return { ...nameModule(held), ...describeStored(held.stored) };
}

function describeStored(stored: StoredArchive | undefined) {
  return {
    stored: stored !== undefined,
    size: stored?.size ?? null,
    lastUsed: stored ? new Date(stored.usedAt).toISOString() : null,
  };
}

function formatPackages(packages: readonly HeldPackage[]): string {
  const rows = packages.map((held) => {
    const { provider, version, platform } = namePackage(held);
    const { stored, firstSeen, signedBy = "-" } = held;
    return [
      ...[provider, version, platform],
      stored === undefined ? "listed" : formatAmount(stored.size),
      minuteOf(firstSeen),
      formatLastUse(stored),
      signedBy,
    ];
  });
  const head = [
    ...["PROVIDER", "VERSION", "PLATFORM", "STORED"],
    ...["FIRST SEEN", "LAST USED", "SIGNED BY"],
  ];
  return `${formatTable([head, ...rows])}${sum(packages, "packages")}`;
}

function formatModules(modules: readonly HeldModule[]): string {
  if (modules.length === 0) return "";
  const rows = modules.map((held) => {
    const { module, version, commit } = nameModule(held);
    const { stored, sha256 } = held;
    const state = sha256 === undefined ? "by clients" : "listed";
    const size = stored === undefined ? state : formatAmount(stored.size);
    return [module, version, size, formatLastUse(stored), commit ?? "-"];
  });
  const head = ["MODULE", "VERSION", "STORED", "LAST USED", "COMMIT"];
  return `${formatTable([head, ...rows])}${sum(modules, "versions of modules")}`;
}

function sum(
  all: readonly { readonly stored: StoredArchive | undefined }[],
  what: string,
): string {
  const stored = all.flatMap((held) => held.stored ?? []);
  const bytes = stored.reduce((total, { size }) => total + size, 0);
  return `${all.length} ${what}, ${stored.length} of them stored (${formatAmount(bytes)}).\n`;
}

function formatLastUse(stored: StoredArchive | undefined): string {
  return stored === undefined ? "-" : minuteOf(new Date(stored.usedAt));
}

function minuteOf(moment: Date): string {
  return moment.toISOString().slice(0, 16);
}
