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
    if (json)
      stdout(
        formatDocument({
          packages: packages.map(describePackage),
          modules: modules.map(describeModule),
          problems: problems.map(describeError),
        }),
      );
    else
      stdout(
        [
          all ? formatPackages(packages) : formatByName("PROVIDER", packages),
          sum(packages, "packages"),
          all ? formatModules(modules) : formatByName("MODULE", modules),
          modules.length === 0 ? "" : sum(modules, "versions of modules"),
        ].join(""),
      );
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

function nameOf(held: HeldPackage | HeldModule): string {
  return "module" in held
    ? formatModuleAddress(held.module)
    : formatProviderAddress(held.provider);
}

function describePackage(held: HeldPackage) {
  const { version, platform, filename, sha256 } = held;
  return {
    ...{ provider: nameOf(held), version, platform: formatPlatform(platform) },
    ...{ filename, sha256, ...describeStored(held) },
    firstSeen: held.firstSeen.toISOString(),
    signedBy: held.signedBy ?? null,
  };
}

function describeModule(held: HeldModule) {
  const { version, sha256 = null, commit = null } = held;
  const module = nameOf(held);
  return { module, version, sha256, commit, ...describeStored(held) };
}

function describeStored({ stored }: HeldPackage | HeldModule) {
  return {
    stored: stored !== undefined,
    size: stored?.size ?? null,
    lastUsed: stored ? new Date(stored.usedAt).toISOString() : null,
  };
}

/** A line a name, in the order that they come in: of each, the newest version first. */
function formatByName(
  title: string,
  all: readonly (HeldPackage | HeldModule)[],
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
  const rows = packages.map((held) => [
    ...[nameOf(held), held.version, formatPlatform(held.platform)],
    held.stored ? formatAmount(held.stored.size) : "listed",
    formatMinute(held.firstSeen),
    held.stored ? formatMinute(held.stored.usedAt) : "-",
    held.signedBy ?? "-",
  ]);
  return formatTable([head, ...rows]);
}

function formatModules(modules: readonly HeldModule[]): string {
  const head = ["MODULE", "VERSION", "STORED", "LAST USED", "COMMIT"];
  const rows = modules.map((held) => {
    const unstored = held.sha256 === undefined ? "by clients" : "listed";
    return [
      ...[nameOf(held), held.version],
      held.stored ? formatAmount(held.stored.size) : unstored,
      held.stored ? formatMinute(held.stored.usedAt) : "-",
      held.commit ?? "-",
    ];
  });
  return formatTable([head, ...rows]);
}

function sum(all: readonly (HeldPackage | HeldModule)[], what: string): string {
  const stored = all.flatMap((held) => held.stored ?? []);
  return `${all.length} ${what}, ${stored.length} of them stored (${formatAmount(sizeOf(stored))}).\n`;
}

function sizeOf(stored: readonly { readonly size: number }[]): number {
  return stored.reduce((total, { size }) => total + size, 0);
}
