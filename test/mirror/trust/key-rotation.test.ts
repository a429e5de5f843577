import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import type { Signer } from "../../fakes/signing.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import {
  digestsIn,
  digestsOf,
  listedIn,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import {
  askEveryFace,
  type PackageDocument,
} from "../../scenes/registry-requests.ts";
import { soon } from "../../scenes/trust-scene.ts";

// PROVENDER_WRITE_DOCS=1 writes the table of docs/decisions.md.

const file = join(import.meta.dirname, "../../../docs/decisions.md");
const type = "thing";
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

/** A provider whose publisher changes keys, and each of its releases as its registry offers it now. */
class Rotation {
  readonly namespace: string;
  readonly #releases = new Map<string, Release>();
  /** Who made each signature, by its digits. */
  readonly #signers = new Map<string, string>();
  #published: readonly Signer[] = [];

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** Signs a release, again with the same archives when there was one. */
  async sign(version: string, signer: Signer, signedAt?: Date): Promise<void> {
    const { namespace } = this;
    const release = await registry.publish({
      ...{ namespace, type, version, signer, seed: namespace },
      ...(signedAt && { signedAt }),
      signingKeys: this.#published,
    });
    this.#releases.set(version, release);
    this.#signers.set(asHex(release.signature), signer.name);
  }

  /** Publishes these keys with every release from now on. */
  publish(...keys: readonly Signer[]): void {
    this.#published = keys;
    for (const release of this.#releases.values())
      registry.offer(release, { signingKeys: keys });
  }

  /** Decides for the provider of each host, and waits until that counts. */
  async decide(
    decision: "approve" | "revoke",
    { fingerprint }: Signer,
    version: string,
    outcome: string,
  ): Promise<void> {
    for (const host of Object.values(hosts)) {
      const scope = `${host}/${this.namespace}/${type}`;
      const named = ["--key", fingerprint, "--for", scope];
      const ran = await runCommand(mirror, "trust", decision, ...named);
      expect(ran).toMatchObject({ status: 0, stderr: "" });
      const ask = requestsFor(mirror, type, this.namespace, host);
      await expect
        .poll(() => ask.outcome(version), { timeout: soon })
        .toBe(outcome);
    }
  }

  /** What every face gives of a release, which is listed where it is served and nowhere else. */
  async look(host: string, version: string): Promise<string> {
    const release = this.#releases.get(version);
    if (release === undefined) return "–";
    const { namespace } = this;
    const asked = await askEveryFace(mirror, version, type, namespace, host);
    const { document, archive, proof, lists } = asked;
    const outcome = outcomeOf(document);
    const about = [host, namespace, version, outcome];
    for (const answer of [archive, ...proof])
      expect([...about, outcomeOf(answer)]).toEqual([...about, outcome]);
    for (const list of Object.values(lists))
      expect([...about, [listedIn(list)].flat().includes(version)]).toEqual([
        ...[...about, outcome === "200"],
      ]);
    if (outcome !== "200") return outcome;
    expect(digestsIn(document)).toEqual(digestsOf(release));
    const { bytes } = release.archive("linux_amd64");
    expect(archive.body.equals(bytes)).toBe(true);
    const [described, , signature] = proof;
    const signer = this.#signers.get(asHex(signature?.body ?? []));
    const { signing_keys } = described?.json() as PackageDocument;
    const ids = signing_keys.gpg_public_keys.map(({ key_id }) => key_id);
    expect(ids).toContain((signer === old.name ? old : next).keyId);
    return `served, ${signer}`;
  }

  /** The answers to clients of each profile as one cell. */
  async describe(version: string): Promise<string> {
    const outcomes = await Promise.all(
      Object.entries(hosts).map(
        async ([profile, host]) =>
          [profile, await this.look(host, version)] as const,
      ),
    );
    const groups = Map.groupBy(outcomes, ([, outcome]) => outcome);
    if (groups.size === 1) return [...groups.keys()].join();
    return [...groups]
      .map(([outcome, own]) => {
        const names = own.map(([profile]) => `\`${profile}\``);
        return `${names.join(", ")}: ${outcome}`;
      })
      .join("; ");
  }

  /** Takes a step, and tells in a row of the table what clients get then and which alarms were raised. */
  async take([name, act]: Step): Promise<string> {
    const since = mirror.log.length;
    await act(this);
    const cells: string[] = [];
    for (const version of Object.keys(columns))
      cells.push(await this.describe(version));
    // The log has every line before that of a later request.
    await awaitLineOf(mirror, await mirror.get("/"));
    const raised = mirror.log
      .slice(since)
      .filter(({ provider }) =>
        String(provider).includes(`/${this.namespace}/`),
      )
      .flatMap(({ alarm }) =>
        typeof alarm === "string" ? [`\`${alarm}\``] : [],
      );
    const alarms = [...new Set(raised)].toSorted().join(", ") || "–";
    return `| ${[name, ...cells, alarms].join(" | ")} |`;
  }
}

function asHex(bytes: Uint8Array | readonly number[]): string {
  return Buffer.from(bytes).toString("hex");
}

type Step = readonly [name: string, act: (rotation: Rotation) => unknown];

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

/** Ways in which the old key ends, each after the steps above. */
const endings: readonly Step[] = [
  [
    "the registry publishes the new key alone",
    (rotation) => rotation.publish(next),
  ],
  [
    "the registry publishes the old key as expired",
    async (rotation) => rotation.publish(await old.expired(), next),
  ],
  [
    "the registry publishes the old key as revoked",
    async (rotation) => rotation.publish(await old.revoked(), next),
  ],
  [
    "you revoke the old key",
    (rotation) => rotation.decide("revoke", old, "1.0.0", "451 key-refused"),
  ],
];

const approval: Step = [
  "… then you approve the new key",
  (rotation) => rotation.decide("approve", next, "2.0.0", "200"),
];

/** Without what aligns the columns. */
const unpadded = (text: string) => text.replaceAll(/ +/g, " ");

it(
  "clients get what the table says while a publisher changes keys, and each version is listed where it is served",
  { timeout: 300_000 },
  async () => {
    const head = ["what happens", ...Object.values(columns), "alarms"];
    const rows: string[] = [];
    for (const [index, ending] of endings.entries()) {
      const rotation = new Rotation(`rotation-${index}`);
      const all: string[] = [];
      for (const step of [...rotating, ending, approval])
        all.push(await rotation.take(step));
      const common = all.splice(0, rotating.length);
      if (index === 0) rows.push(...common);
      expect(common).toEqual(rows.slice(0, rotating.length));
      rows.push(...all);
    }
    const table = [
      `| ${head.join(" | ")} |`,
      `|${" --- |".repeat(head.length)}`,
      ...rows,
    ].join("\n");
    const page = readFileSync(file, "utf8");
    const replaced = page.replace(
      /(<!-- rotation -->\n).*?(<!-- \/rotation -->)/s,
      (_, begin: string, end: string) => `${begin}\n${table}\n${end}`,
    );
    const written = await format(replaced, { parser: "markdown" });
    if (process.env.PROVENDER_WRITE_DOCS === "1") writeFileSync(file, written);
    expect(unpadded(written)).toBe(unpadded(readFileSync(file, "utf8")));
  },
);
