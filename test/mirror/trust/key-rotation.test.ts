import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import {
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  createCertifiedSigner,
  type CertifiedSigner,
} from "../../scenes/certified-signers.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import {
  runCommand,
  digestsIn,
  listedIn,
  outcomeOf,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { soon } from "../../scenes/trust-scene.ts";
import type { Release } from "../../fakes/release.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  RegistryRequests,
  type PackageDocument,
} from "../../scenes/registry-requests.ts";
import { digestsOf } from "../../scenes/seen-releases.ts";

const type = "thing";
const platform = "linux_amd64";

/** A provider whose publisher changes keys, and each of its releases as its registry offers it now. */
class Rotation {
  readonly namespace: string;
  readonly #registry: Registry;
  readonly #releases = new Map<string, Release>();
  /** Every signature that the publisher made, in hexadecimal digits. */
  readonly #signatures = new Map<string, Signer>();
  #published: readonly Signer[] = [];

  constructor(registry: Registry, namespace: string) {
    this.#registry = registry;
    this.namespace = namespace;
  }

  /** Signs a release, again with the same archives when there was one. */
  async sign(version: string, signer: Signer, signedAt?: Date): Promise<void> {
    const { namespace } = this;
    const release = await this.#registry.publish({
      ...{ namespace, type, version, signer, seed: namespace },
      ...(signedAt && { signedAt }),
      signingKeys: this.#published,
    });
    this.#releases.set(version, release);
    this.#signatures.set(asHex(release.signature), signer);
  }

  /** Publishes these keys with every release from now on. */
  publish(...keys: readonly Signer[]): void {
    this.#published = keys;
    for (const release of this.#releases.values())
      this.#registry.offer(release, { signingKeys: keys });
  }

  /** Asks for VERSION.json alone. */
  async ask(
    mirror: RunningMirror,
    hostname: string,
    version: string,
  ): Promise<string> {
    const ask = requestsFor(mirror, type, this.namespace, hostname);
    return outcomeOf(await ask.version(version));
  }

  /**
   * Asks every face for a release: index.json, VERSION.json and the archive, then
   * the registry protocol. Expects that a version is listed where it is served, and
   * nowhere else, and returns what clients get.
   */
  async look(
    mirror: RunningMirror,
    hostname: string,
    version: string,
  ): Promise<string> {
    const release = this.#releases.get(version);
    if (release === undefined) return "–";
    const ask = requestsFor(mirror, type, this.namespace, hostname);
    const facade = new RegistryRequests(mirror, type, hostname, this.namespace);
    const document = await ask.version(version);
    const archive = await ask.archive(version);
    const proof = await Promise.all(
      facade.pathsOf(version).map((path) => facade.get(path)),
    );
    const lists = [await ask.index(), await facade.versions()];
    const answers = [document, archive, ...proof];
    const outcome = outcomeOf(document);
    const about = `${hostname} ${this.namespace} ${version}`;
    expect([about, ...answers.map(outcomeOf)]).toEqual([
      about,
      ...answers.map(() => outcome),
    ]);
    expect([
      about,
      outcome,
      ...lists.map((list) => isListed(list, version)),
    ]).toEqual([about, outcome, ...lists.map(() => outcome === "200")]);
    if (outcome !== "200") return outcome;
    expect(digestsIn(document)).toEqual(digestsOf(release));
    expect(archive.body.equals(release.archive(platform).bytes)).toBe(true);
    return `served, ${this.#nameSigner(proof)}`;
  }

  /** Names the key of the signature in the registry protocol, which has to come with that key. */
  #nameSigner([document, sums, signature]: readonly Answer[]): string {
    const { signing_keys } = document?.json() as PackageDocument;
    const signer = this.#signatures.get(asHex(signature?.body ?? []));
    const ids = signing_keys.gpg_public_keys.map(({ key_id }) => key_id);
    expect(ids).toContain(signer?.keyId);
    expect(sums?.body.length).toBeGreaterThan(0);
    return signer?.name ?? "unknown";
  }
}

function asHex(bytes: Uint8Array | readonly number[]): string {
  return Buffer.from(bytes).toString("hex");
}

function isListed(answer: Answer, version: string): boolean {
  const listed = listedIn(answer);
  return typeof listed !== "string" && listed.includes(version);
}

// PROVENDER_WRITE_DOCS=1 writes the table of docs/decisions.md.

const file = join(import.meta.dirname, "../../../docs/decisions.md");
/** An origin for each profile. */
const hosts = {
  terraform: "registry.terraform.io",
  opentofu: "registry.opentofu.org",
  enforce: "registry.example.com",
} as const;
const columns = {
  "1.0.0": "1.0.0, signed with the old key",
  "1.1.0": "1.1.0, signed again with the new key",
  "2.0.0": "2.0.0, signed with the new key",
} as const;

const authority = await createAuthority();
const registry = await startRegistry({ authority });
const [old, next] = await Promise.all([
  createCertifiedSigner("old key"),
  createCertifiedSigner("new key"),
]);
const origins = Object.entries(hosts).map(
  ([profile, host]) =>
    originsOf(authority, registry, { profile }, host).origins,
);
const config = {
  origins: Object.assign({}, ...origins) as object,
  freshness: { versions: "0" },
};
const mirror = await startMirror({ config });

/** Name of a step in the table, and its code. */
type Step = readonly [string, (rotation: Rotation) => unknown];

const rotating: readonly Step[] = [
  [
    "first contact: the registry publishes the old key",
    async (rotation) => {
      rotation.publish(old);
      await rotation.sign("1.0.0", old);
      await rotation.sign("1.1.0", old);
    },
  ],
  [
    "it publishes the new key beside the old one",
    (rotation) => rotation.publish(old, next),
  ],
  [
    "the publisher signs 1.1.0 again with the new key",
    (rotation) => rotation.sign("1.1.0", next, new Date()),
  ],
  [
    "the publisher releases 2.0.0 under the new key",
    (rotation) => rotation.sign("2.0.0", next, new Date()),
  ],
];

const approval: Step = [
  "… then you approve the new key",
  (rotation) => decide("approve", next, rotation, "2.0.0", "200"),
];

/** Ways in which the old key ends, each after the steps above. */
const endings: Readonly<Record<string, Step>> = {
  withdrawn: [
    "the registry publishes the new key alone",
    (rotation) => rotation.publish(next),
  ],
  expired: [
    "the registry publishes the old key as expired",
    async (rotation) => rotation.publish(await old.expired(), next),
  ],
  "revoked-by-owner": [
    "the registry publishes the old key as revoked",
    async (rotation) => rotation.publish(await old.revoked(), next),
  ],
  "revoked-by-operator": [
    "you revoke the old key",
    (rotation) => decide("revoke", old, rotation, "1.0.0", "451 key-refused"),
  ],
};

/** Decides for the provider of each host, and waits until that counts. */
async function decide(
  decision: "approve" | "revoke",
  { fingerprint }: CertifiedSigner,
  rotation: Rotation,
  version: string,
  outcome: string,
): Promise<void> {
  for (const host of Object.values(hosts)) {
    const scope = `${host}/${rotation.namespace}/thing`;
    const { status, stderr } = await runCommand(
      mirror,
      ...["trust", decision, "--key", fingerprint, "--for", scope],
    );
    expect([status, stderr]).toEqual([0, ""]);
    await expect
      .poll(() => rotation.ask(mirror, host, version), { timeout: soon })
      .toBe(outcome);
  }
}

/** The kinds of alarms that were raised since, without those of each host. */
function listAlarms({ namespace }: Rotation, since: number): string {
  const raised = mirror.log
    .slice(since)
    .filter(({ provider }) => String(provider).includes(`/${namespace}/`))
    .flatMap(({ alarm }) =>
      typeof alarm === "string" ? [`\`${alarm}\``] : [],
    );
  return [...new Set(raised)].toSorted().join(", ") || "–";
}

/** Formats the answers to clients of each profile as one cell. */
async function describe(rotation: Rotation, version: string): Promise<string> {
  const outcomes = await Promise.all(
    Object.entries(hosts).map(async ([profile, host]) => ({
      profile,
      outcome: await rotation.look(mirror, host, version),
    })),
  );
  const groups = Map.groupBy(outcomes, ({ outcome }) => outcome);
  return groups.size === 1
    ? [...groups.keys()].join()
    : [...groups]
        .map(([outcome, own]) => {
          const names = own.map(({ profile }) => `\`${profile}\``).join(", ");
          return `${names}: ${outcome}`;
        })
        .join("; ");
}

async function takeStep(
  rotation: Rotation,
  [name, act]: Step,
): Promise<string> {
  const since = mirror.log.length;
  await act(rotation);
  const cells: string[] = [];
  for (const version of Object.keys(columns))
    cells.push(await describe(rotation, version));
  // The log has every line before that of a later request.
  await awaitLineOf(mirror, await mirror.get("/"));
  return `| ${[name, ...cells, listAlarms(rotation, since)].join(" | ")} |`;
}

/** The rows of one way to end, the common ones first. */
async function rotate(ending: string, step: Step): Promise<readonly string[]> {
  const rotation = new Rotation(registry, ending);
  const rows: string[] = [];
  for (const one of [...rotating, step, approval])
    rows.push(await takeStep(rotation, one));
  return rows;
}

/** Without what aligns the columns. */
function unpadded(text: string): string {
  return text.replaceAll(/ +/g, " ");
}

function replaceTable(text: string, table: string): string {
  return text.replace(
    /(<!-- rotation -->\n).*?(<!-- \/rotation -->)/s,
    (_, begin: string, end: string) => `${begin}\n${table}\n${end}`,
  );
}

it(
  "clients get what the table says while a publisher changes keys, and each version is listed where it is served",
  { timeout: 300_000 },
  async () => {
    const common: (readonly string[])[] = [];
    const rows: string[] = [];
    for (const [ending, step] of Object.entries(endings)) {
      const all = await rotate(ending, step);
      common.push(all.slice(0, rotating.length));
      rows.push(...all.slice(rotating.length));
    }
    const [first = [], ...others] = common;
    for (const one of others) expect(one).toEqual(first);
    const head = ["what happens", ...Object.values(columns), "alarms"];
    const table = [
      `| ${head.join(" | ")} |`,
      `|${" --- |".repeat(head.length)}`,
      ...[...first, ...rows],
    ].join("\n");
    const page = readFileSync(file, "utf8");
    const written = await format(replaceTable(page, table), {
      parser: "markdown",
    });
    if (process.env.PROVENDER_WRITE_DOCS === "1") writeFileSync(file, written);
    const known = readFileSync(file, "utf8");
    expect(unpadded(written)).toBe(unpadded(known));
  },
);
