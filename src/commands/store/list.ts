import { formatModuleAddress } from "../../address/module-address.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  parseSelection,
  selectVersions,
  readEitherSpec,
} from "../../address/spec.ts";
import {
  countHeld,
  type HeldModule,
  type HeldName,
  type HeldPackage,
  type HeldQuestion,
  listHeld,
} from "../../mirror/upkeep/held.ts";
import { sumOf } from "../../mirror/upkeep/pruning.ts";
import type { UsedBlob } from "../../store/blobs/blob-store.ts";
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
    const question = askFor(mirror, spec);
    const { text, problems } =
      json || all
        ? await listEach(mirror, question, json)
        : await listNames(mirror, question);
    stdout(text);
    for (const { message } of problems) stderr(`${message}\n`);
    return problems.length > 0 ? 1 : 0;
  });
}

async function listEach(
  mirror: OpenMirror,
  question: HeldQuestion,
  json: boolean,
) {
  const { packages, modules, problems } = await listHeld(mirror, question);
  const kept = (held: readonly (HeldPackage | HeldModule)[]) =>
    held.flatMap(({ stored }) => stored ?? []);
  const text = json
    ? formatDocument({
        packages: packages.map(describePackage),
        modules: modules.map(describeModule),
        problems: problems.map(describeError),
      })
    : [
        formatPackages(packages),
        formatSum(packages.length, "packages", kept(packages)),
        formatModules(modules),
        formatSum(modules.length, "versions of modules", kept(modules)),
      ].join("");
  return { text, problems };
}

async function listNames(mirror: OpenMirror, question: HeldQuestion) {
  const { providers, modules, problems } = await countHeld(mirror, question);
  const text = [
    formatNames("PROVIDER", "packages", providers),
    formatNames("MODULE", "versions of modules", modules),
  ].join("");
  return { text, problems };
}

/** What a SPEC names of what is recorded; other than where packages are fetched, one without a constraint means every version. */
export function askFor(
  mirror: OpenMirror,
  spec: string | undefined,
): HeldQuestion {
  if (spec === undefined) return {};
  const { chosen, ...named } = readEitherSpec(
    spec,
    anyHostOf(mirror.configuration),
  );
  if (chosen === undefined) return named;
  const selection = parseSelection(
    chosen,
    "module" in named ? "module" : "provider",
  );
  return {
    ...named,
    choose: (versions) => selectVersions(selection, versions),
  };
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

/** A line a name. */
function formatNames(
  title: string,
  what: string,
  names: readonly HeldName[],
): string {
  const head = [title, "VERSIONS", "NEWEST", "STORED", "SIZE", "LAST USED"];
  const rows = names.map(({ name, versions, count, stored }) => {
    const used = stored.reduce((last, { usedAt }) => Math.max(last, usedAt), 0);
    return [
      ...[name, `${versions.length}`, versions[0] ?? "-"],
      ...[`${stored.length} of ${count}`, formatAmount(sumOf(stored))],
      used === 0 ? "-" : formatMinute(used),
    ];
  });
  const count = names.reduce((sum, one) => sum + one.count, 0);
  const stored = names.flatMap((one) => one.stored);
  return `${formatTable([head, ...rows])}${formatSum(count, what, stored)}`;
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

function formatSum(
  count: number,
  what: string,
  stored: readonly UsedBlob[],
): string {
  return count === 0 && what !== "packages"
    ? ""
    : `${count} ${what}, ${stored.length} of them stored (${formatAmount(sumOf(stored))}).\n`;
}
