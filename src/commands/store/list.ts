import { formatModuleAddress } from "../../address/module-address.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  parseSelection,
  selectVersions,
  readEitherSpec,
} from "../../address/spec.ts";
import {
  type HeldModule,
  type HeldPackage,
  listHeld,
} from "../../mirror/upkeep/held.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { anyHostOf, type Flags, onStore } from "../command.ts";
import {
  describeError,
  formatDocument,
  stderr,
  stdout,
} from "../output/report.ts";
import { formatAmount, formatMinute, formatTable } from "../output/table.ts";

/** `provender list [SPEC]`: a line a provider, a line a package with `--all`; returns 1 when a record is damaged; each is named. */
export function list({
  spec,
  all = false,
  json = false,
  ...flags
}: Flags & {
  readonly spec?: string;
  readonly all?: boolean;
}): Promise<number> {
  return onStore(flags, async (mirror) => {
    const { packages, modules, problems } = await findHeld(mirror, spec);
    const document = {
      packages: packages.map(describePackage),
      modules: modules.map(describeModule),
      problems: problems.map(describeError),
    };
    const text = all
      ? `${formatPackages(packages)}${formatModules(modules)}`
      : `${formatProviders(packages)}${formatModuleNames(modules)}`;
    stdout(json ? formatDocument(document) : text);
    for (const { message } of problems) stderr(`${message}\n`);
    return problems.length > 0 ? 1 : 0;
  });
}

/** What a SPEC names of what is recorded; other than where packages are fetched, one without a constraint means every version. */
export function findHeld(mirror: OpenMirror, spec: string | undefined) {
  if (spec === undefined) return listHeld(mirror, {});
  const { chosen, ...named } = readEitherSpec(
    spec,
    anyHostOf(mirror.configuration),
  );
  const selection =
    chosen === undefined
      ? undefined
      : parseSelection(chosen, "module" in named ? "module" : "provider");
  return listHeld(mirror, {
    providers: "module" in named ? [] : [named.provider],
    modules: "module" in named ? [named.module] : [],
    choose: (versions) =>
      selection ? selectVersions(selection, versions) : versions,
  });
}

function describePackage(held: HeldPackage) {
  const { provider, version, platform, filename, sha256 } = held;
  return {
    provider: formatProviderAddress(provider),
    version,
    platform: formatPlatform(platform),
    filename,
    sha256,
    ...describeStored(held),
    firstSeen: held.firstSeen.toISOString(),
    signedBy: held.signedBy ?? null,
  };
}

function describeModule(held: HeldModule) {
  const { module, version, sha256 = null, commit = null } = held;
  const name = { module: formatModuleAddress(module), version };
  return { ...name, sha256, commit, ...describeStored(held) };
}

function describeStored({ stored }: HeldPackage | HeldModule) {
  return {
    stored: stored !== undefined,
    size: stored?.size ?? null,
    lastUsed: stored ? new Date(stored.usedAt).toISOString() : null,
  };
}

function formatProviders(packages: readonly HeldPackage[]): string {
  const table = formatByName("PROVIDER", packages, ({ provider }) =>
    formatProviderAddress(provider),
  );
  return `${table}${sum(packages, "packages")}`;
}

function formatModuleNames(modules: readonly HeldModule[]): string {
  if (modules.length === 0) return "";
  const table = formatByName("MODULE", modules, ({ module }) =>
    formatModuleAddress(module),
  );
  return `${table}${sum(modules, "versions of modules")}`;
}

/** A line a name, in the order that they come in: of each, the newest version first. */
function formatByName<T extends HeldPackage | HeldModule>(
  title: string,
  all: readonly T[],
  nameOf: (held: T) => string,
): string {
  const head = [title, "VERSIONS", "NEWEST", "STORED", "SIZE", "LAST USED"];
  const rows = Array.from(Map.groupBy(all, nameOf), ([name, held]) => {
    const stored = held.flatMap((one) => one.stored ?? []);
    const used = stored.reduce((last, { usedAt }) => Math.max(last, usedAt), 0);
    return [
      name,
      `${new Set(held.map(({ version }) => version)).size}`,
      held[0]?.version ?? "-",
      `${stored.length} of ${held.length}`,
      formatAmount(sizeOf(stored)),
      stored.length === 0 ? "-" : formatMinute(used),
    ];
  });
  return formatTable([head, ...rows]);
}

function formatPackages(packages: readonly HeldPackage[]): string {
  const head = [
    ...["PROVIDER", "VERSION", "PLATFORM", "STORED"],
    ...["FIRST SEEN", "LAST USED", "SIGNED BY"],
  ];
  const rows = packages.map(({ signedBy = "-", stored, ...held }) => [
    formatProviderAddress(held.provider),
    held.version,
    formatPlatform(held.platform),
    stored === undefined ? "listed" : formatAmount(stored.size),
    formatMinute(held.firstSeen),
    stored === undefined ? "-" : formatMinute(stored.usedAt),
    signedBy,
  ]);
  return `${formatTable([head, ...rows])}${sum(packages, "packages")}`;
}

function formatModules(modules: readonly HeldModule[]): string {
  if (modules.length === 0) return "";
  const head = ["MODULE", "VERSION", "STORED", "LAST USED", "COMMIT"];
  const rows = modules.map(({ stored, sha256, commit = "-", ...held }) => [
    formatModuleAddress(held.module),
    held.version,
    stored === undefined
      ? sha256 === undefined
        ? "by clients"
        : "listed"
      : formatAmount(stored.size),
    stored === undefined ? "-" : formatMinute(stored.usedAt),
    commit,
  ]);
  return `${formatTable([head, ...rows])}${sum(modules, "versions of modules")}`;
}

function sum(all: readonly (HeldPackage | HeldModule)[], what: string): string {
  const stored = all.flatMap((held) => held.stored ?? []);
  return `${all.length} ${what}, ${stored.length} of them stored (${formatAmount(sizeOf(stored))}).\n`;
}

function sizeOf(stored: readonly { readonly size: number }[]): number {
  return stored.reduce((total, { size }) => total + size, 0);
}
