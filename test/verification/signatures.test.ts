import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { config, enums, PublicKeyPacket, SignaturePacket } from "openpgp";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import {
  decisionVersion,
  SignatureThreads,
  type SignatureQuestion,
} from "../../src/verification/signatures.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import { failing } from "../scenes/failing.ts";
import {
  armor,
  block,
  document,
  lastYear,
  literal,
  makeKey,
  now,
  packetsOf,
} from "./forge.ts";

const maker = await makeKey();
const good: SignatureQuestion = {
  ...{ document, signature: await maker.sign(), keys: [maker.armored] },
  ...{ profile: "terraform", now },
};
const stranger = await makeKey();

const numberOf = (bits: number, octet: number) => Buffer.alloc(bits / 8, octet);

/** By a DSA key within all limits, with well-formed signatures on its user ID and over the document: minutes of arithmetic on any machine. */
async function askSlow(): Promise<SignatureQuestion> {
  const created = new Date(lastYear * 1000);
  const algorithm = enums.publicKey.dsa;
  const publicParams = {
    p: numberOf(65_528, 255),
    // A prime, 2^44497 - 1: it has no divisor in common with any signature, which would end the arithmetic early.
    q: Buffer.concat([Buffer.of(1), Buffer.alloc(5562, 255)]),
    ...{ g: numberOf(65_528, 3), y: numberOf(65_528, 5) },
  };
  const params = { r: numberOf(1024, 7), s: numberOf(1024, 7) };
  const key = Object.assign(new PublicKeyPacket(), {
    ...{ created, algorithm, publicParams },
  }) as PublicKeyPacket & { computeFingerprintAndKeyID(): Promise<void> };
  await key.computeFingerprintAndKeyID();
  const sign = async (signatureType: enums.signature, over: object) => {
    const hashAlgorithm = enums.hash.sha256;
    const made = Object.assign(new SignaturePacket(), {
      ...{ version: 4, created, signatureType, hashAlgorithm, params },
      ...{ publicKeyAlgorithm: algorithm, issuerKeyID: key.getKeyID() },
    }) as unknown as SignaturePacket & {
      writeHashedSubPackets(): Uint8Array;
      hash(type: enums.signature, over: object): Promise<Uint8Array>;
    };
    const head = Buffer.of(4, signatureType, algorithm, hashAlgorithm);
    made.signatureData = Buffer.concat([head, made.writeHashedSubPackets()]);
    made.signedHashValue = (await made.hash(signatureType, over)).slice(0, 2);
    return made;
  };
  const { userID } = maker;
  const self = sign(enums.signature.certPositive, { key, userID });
  const made = await sign(enums.signature.binary, literal);
  const keys = [await block(key, userID, self)];
  return { ...good, signature: packetsOf(made), keys };
}

const slow = await askSlow();

/** So long that no machine needs it, or so short that the slow question never makes it. */
const [patient, hasty] = [600_000, 50];
const kibibyte = 1024;

/** For what ends no thread; a thread takes half a second to start. */
const shared = new SignatureThreads({
  ...{ threads: 1, deadlineMs: patient, memoryMiB: 128 },
});
afterAll(() => shared.close());

function open(deadlineMs: number, memoryMiB = 128): SignatureThreads {
  const threads = new SignatureThreads({ threads: 1, deadlineMs, memoryMiB });
  onTestFinished(() => threads.close());
  return threads;
}

describe("the thread", () => {
  it("decides as decideSignature does", async () => {
    for (const one of [good, { ...good, document: Buffer.from("other") }])
      expect(await shared.decide(one)).toEqual(await decideSignature(one));
  });

  it("alone loads the library", () => {
    const source = join(import.meta.dirname, "../../src");
    const worker = "verification/signature-worker.ts";
    for (const path of globSync("**/*.ts", { cwd: source })) {
      const text = readFileSync(join(source, path), "utf8");
      expect(text.includes('"openpgp"'), path).toBe(path === worker);
      expect(text, path).not.toMatch(/import [^t][^;]*signature-worker\.ts"/);
    }
  });

  it("is of the version that is recorded", () => {
    const version = config.versionString.replace("OpenPGP.js", "openpgp.js");
    expect(decisionVersion).toContain(`${version}, node `);
  });
});

/** A packet without a body, of which trust is nobody's. */
const trust = Buffer.of(0xc0 + enums.packet.trust, 0);

describe("what is too large", () => {
  const own = maker.armored;
  const filler = (length: number) => "\n".repeat(length - own.length);
  const signatureOf = (octets: number) => {
    const before = (octets - good.signature.length) >> 1;
    return Buffer.concat([Buffer.alloc(2 * before, trust), good.signature]);
  };
  /** What is just read, and what is over that. */
  type Ask = (over: 0 | 1) => Partial<SignatureQuestion>;

  it.each<[string, Ask]>([
    [
      "16 key blocks",
      (over) => ({
        keys: [...Array<string>(15 + over).fill(stranger.armored), own],
      }),
    ],
    [
      "256 KiB of key text",
      (over) => ({ keys: [own, filler(256 * kibibyte + over)] }),
    ],
    [
      "16 KiB of signature",
      (over) => ({ signature: signatureOf(16 * kibibyte + 2 * over) }),
    ],
    [
      "1 MiB of document",
      (over) => ({ document: Buffer.alloc(kibibyte ** 2 + over) }),
    ],
  ])("is over %s", async (_, ask) => {
    const most = ask(0);
    expect(await shared.decide({ ...good, ...most })).toMatchObject(
      most.document ? { reason: "bad-signature" } : { accepted: true },
    );
    // Without a thread.
    const closed = open(patient);
    await closed.close();
    expect(await closed.decide({ ...good, ...ask(1) })).toMatchObject({
      ...{ accepted: false, reason: "limits" },
    });
  });
});

const begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n";
const fill = (line: string) => ({
  keys: [begin.padEnd(256 * kibibyte, line)],
});
const certificate = packetsOf(
  ...[stranger.key, stranger.userID, await stranger.self()],
);
const foreign = packetsOf(await maker.make(enums.signature.certGeneric));
const followed = (times: number, one: Uint8Array) => ({
  keys: [
    armor(Buffer.concat([certificate, Buffer.alloc(times * one.length, one)])),
  ],
});

describe("hostile keys", () => {
  it.each<[string, Partial<SignatureQuestion>]>([
    ["empty lines", fill("\n")],
    ["lines that begin as the last one", fill("-----\n")],
    ["90,000 packets", followed(90_000, trust)],
    ["1,000 certifications by others", followed(1_000, foreign)],
  ])("are refused: %s", async (_, change) => {
    const decided = await shared.decide({ ...good, ...change });
    expect(decided).toMatchObject({ accepted: false });
  });

  it("cost nothing beside the key that signed", async () => {
    const keys = [...slow.keys, ...good.keys];
    expect(await shared.decide({ ...good, keys })).toMatchObject({
      accepted: true,
    });
  });
});

describe("the threads", () => {
  it("end each decision at a deadline that counts from when one begins, while this thread goes on", async () => {
    const threads = open(hasty);
    const events: string[] = [];
    const asked = Array.from({ length: 4 }, () =>
      threads
        .decide(slow)
        .catch((error: unknown) => events.push(String(error))),
    );
    await setImmediate();
    events.push("went on");
    await Promise.all(asked);
    const late = `Error: no decision within ${hasty} ms`;
    expect(events).toEqual(["went on", late, late, late, late]);
  });

  it("let 1024 wait and turn the next one away", async () => {
    const threads = open(patient);
    const waiting = Array.from({ length: 1025 }, () =>
      threads.decide(slow).catch(() => "ended"),
    );
    const refusal = Promise.all([Promise.resolve(), threads.decide(good)]);
    await expect(refusal).rejects.toThrow(failing("too-busy"));
    await expect(refusal).rejects.toThrow("signatures to verify");
    await threads.close();
    expect(await Promise.all(waiting)).toContain("ended");
  });

  it("tell one that crashed for want of memory from one that was ended", async () => {
    const crashed = open(patient, 4).decide(good);
    await expect(crashed).rejects.toThrow("the thread crashed");
  });

  it("end what is under way and what waits, and decide nothing afterwards", async () => {
    const [threads, unused] = [open(patient), open(patient)];
    await threads.decide(good);
    const begun = [slow, slow].map((one) =>
      threads.decide(one).catch((error: unknown) => error),
    );
    await setImmediate();
    await Promise.all([threads.close(), unused.close()]);
    for (const ended of await Promise.all(begun))
      expect(String(ended)).toMatch(/the thread(?:s ended| crashed)$/);
    for (const closed of [threads, unused])
      await expect(closed.decide(good)).rejects.toThrow("the threads ended");
  });
});
