import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { createSigner, type Signer } from "../../fakes/signing.ts";
import {
  fetchFrom,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { originsOf } from "../../origins.ts";
import { Certificate, lastYear } from "./certificates.ts";
import {
  armor,
  forgeKey,
  forgeSignature,
  mpi,
  packet,
  wrapKey,
} from "./forge.ts";
import { effort } from "../../effort.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";

const mebibyte = 1024 * 1024;
/** A p99 needs a hundred; more only make it steadier. */
const probes = 200 * effort;
const attempts = 8;

let registry: Registry;
let mirror: RunningMirror;
let signer: Signer;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  signer = await createSigner();
  mirror = await startMirror({
    config: {
      ...originsOf(authority, registry),
      freshness: { versions: "1ms" },
    },
  });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

function ones(bits: number): Buffer {
  return Buffer.alloc(bits / 8, 0xff);
}

/** A key of these numbers, with a self-signature that takes all the arithmetic to be found wrong. */
function hostileKey(
  algorithm: number,
  numbers: readonly Buffer[],
  userIds = 1,
): string {
  const { privateKey } = forgeKey(lastYear);
  const material = Buffer.concat(numbers.map(mpi));
  const certificate = new Certificate(
    wrapKey({
      version: 4,
      createdAt: lastYear,
      algorithm,
      material,
      privateKey,
    }),
  );
  const head = [4, 0x13, algorithm, 8, 0, 6, 5, 2, 0x66, 0, 0, 0, 0, 10, 9, 16];
  const values = algorithm === 17 ? [ones(256), ones(256)] : [ones(8192)];
  for (let count = 0; count < userIds; count++)
    certificate.packets.push(
      packet(13, Buffer.from(`maker ${count}`)),
      packet(
        2,
        Buffer.concat([
          Buffer.from(head),
          Buffer.from(certificate.primary.fingerprint.slice(-16), "hex"),
          Buffer.of(0, 0),
          ...values.map(mpi),
        ]),
      ),
    );
  return certificate.armor();
}

/** As much of it as the mirror still reads, in armor. */
function fillText(key: Buffer, part: Buffer): string {
  const count = Math.floor((1.4 * mebibyte - key.length) / part.length);
  return armor(
    Buffer.concat([key, ...Array.from({ length: count }, () => part)]),
  );
}

function certifyByOther(): string {
  const forged = { type: 0x10, createdAt: lastYear };
  const other = forgeSignature(forgeKey(lastYear), ones(8), forged);
  const key = new Certificate().userId("maker").octets();
  return fillText(key, packet(2, other));
}

/** Each one embeds the one before it. */
function nestSignatures(): string {
  const maker = forgeKey(lastYear, { version: 6 });
  let nested: Buffer = Buffer.of();
  for (let depth = 0; depth < 500; depth++)
    nested = forgeSignature(maker, ones(8), {
      type: 0x19,
      createdAt: lastYear,
      subpackets: [{ type: 32, content: nested }],
    });
  return fillText(new Certificate().octets(), packet(2, nested));
}

function addLargeSubpacket(): string {
  const maker = forgeKey(lastYear, { version: 6 });
  const large = { type: 100, content: Buffer.alloc(mebibyte) };
  const forged = { type: 0x13, createdAt: lastYear, subpackets: [large] };
  const signature = packet(2, forgeSignature(maker, ones(8), forged));
  return armor(Buffer.concat([new Certificate().octets(), signature]));
}

/** A namespace whose registry publishes this instead of a key; the document is rendered once, so that this process stays idle. */
async function publishUnder(namespace: string, key: string): Promise<void> {
  const release = await registry.publish({
    namespace,
    version: "1.0.0",
    signer,
  });
  const { filename, sha256 } = release.archive("linux_amd64");
  const files = `${registry.url}archives/${namespace}/widget/1.0.0/`;
  const sums = `${files}terraform-provider-widget_1.0.0_SHA256SUMS`;
  const document = {
    os: "linux",
    arch: "amd64",
    filename,
    download_url: `${files}${filename}`,
    shasums_url: sums,
    shasums_signature_url: `${sums}.sig`,
    shasum: sha256,
    signing_keys: { gpg_public_keys: [{ ascii_armor: key }] },
  };
  registry.serve(
    `/v1/providers/${namespace}/widget/1.0.0/download/linux/amd64`,
    JSON.stringify(document),
  );
}

/** Milliseconds of each answer of /healthz, over one connection, while two clients attack without a pause. */
async function probe(attack: () => Promise<void>): Promise<readonly number[]> {
  const agent = new Agent({ ca: readFileSync(mirror.caFile), keepAlive: true });
  const url = new URL("/healthz", mirror.url);
  const times: number[] = [];
  const attacker = async () => {
    do await attack();
    while (times.length < probes);
  };
  const attackers = Promise.all([attacker(), attacker()]);
  while (times.length < probes) {
    const start = performance.now();
    const { status } = await fetchFrom(url, agent, {});
    times.push(performance.now() - start);
    expect(status).toBe(200);
  }
  await attackers;
  agent.destroy();
  return times;
}

function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.ceil(part * sorted.length) - 1] ?? Infinity;
}

const hostile: readonly (readonly [string, () => string, string])[] = [
  [
    "RSA with n and e of 32768 bits",
    () => hostileKey(1, [ones(32768), ones(32768)]),
    "451 signature-refused",
  ],
  [
    "DSA of 8192 bits",
    () => hostileKey(17, [ones(8192), ones(256), ones(8192), ones(8192)]),
    "451 signature-refused",
  ],
  [
    "RSA of 8192 bits with 30 user IDs",
    () => hostileKey(1, [ones(8192), Buffer.of(0xff, 0xff, 0xff)], 30),
    "451 signature-refused",
  ],
  [
    "10^5 packets",
    () =>
      armor(
        Buffer.concat(
          Array.from({ length: 95_000 }, () => packet(12, Buffer.of())),
        ),
      ),
    "451 signature-refused",
  ],
  [
    "2 MiB of certifications by others",
    certifyByOther,
    "451 signature-refused",
  ],
  [
    "2 MiB of signatures nested in one another",
    nestSignatures,
    "451 signature-refused",
  ],
  ["a subpacket of 1 MiB", addLargeSubpacket, "451 signature-refused"],
  [
    "50 MB of armor",
    () => armor(Buffer.alloc(37 * mebibyte)),
    "502 origin-answer",
  ],
];

describe("while hostile keys are being verified", () => {
  it.each(hostile)(
    "%s is refused, and /healthz answers within 50 ms (p99)",
    { timeout: 120_000 },
    async (name, makeKey, expected) => {
      const namespace = `hostile-${hostile.findIndex(([one]) => one === name)}`;
      await publishUnder(namespace, makeKey());
      const ask = requestsFor(mirror, "widget", namespace);
      const attack = async () => {
        expect(outcomeOf(await ask.version("1.0.0"))).toBe(expected);
      };
      // Other work on the machine only adds; what the mirror does is there each time.
      let times: readonly number[] = [];
      for (let attempt = 0; attempt < attempts; attempt++) {
        const probed = await probe(attack);
        if (percentile(probed, 0.99) < percentile(times, 0.99)) times = probed;
        if (percentile(times, 0.99) <= 50) break;
      }
      const p99 = percentile(times, 0.99);
      console.info(
        `${name}: /healthz p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${percentile(times, 1).toFixed(1)} ms of ${times.length}`,
      );
      expect(p99).toBeLessThanOrEqual(50);
    },
  );

  it("a genuine release is served all the while", async () => {
    await publishUnder("genuine", signer.armoredPublicKey);
    const answers = await Promise.all([
      requestsFor(mirror, "widget", "hostile-0").version("1.0.0"),
      requestsFor(mirror, "widget", "hostile-2").version("1.0.0"),
      requestsFor(mirror, "widget", "genuine").version("1.0.0"),
    ]);
    expect(answers.at(-1)?.status).toBe(200);
  });
});
