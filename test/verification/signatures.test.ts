import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { config } from "openpgp";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import {
  decisionVersion,
  SignatureThreads,
  type SignatureQuestion,
} from "../../src/verification/signatures.ts";
import { failing } from "../scenes/failing.ts";
import {
  armor,
  Certificate,
  document,
  forgeKey,
  forgeSignature,
  lastYear,
  mpi,
  now,
  packet,
  signDocument,
  wrapKey,
} from "./forge.ts";

const signer = forgeKey(lastYear);

const good: SignatureQuestion = {
  document,
  signature: signDocument(signer),
  keys: [new Certificate(signer).userId("maker").armor()],
  profile: "terraform",
  now,
};

const [rsa, dsa] = [1, 17];
const { privateKey } = forgeKey(lastYear, { kind: "rsa2048" });

/** A key of numbers that its private key does not compute with; a signature by it is well-formed. */
function askHostile(
  algorithm: number,
  numbers: readonly Buffer[],
): SignatureQuestion {
  const material = Buffer.concat(numbers.map(mpi));
  const parts = { createdAt: lastYear, algorithm, material, privateKey };
  const key = wrapKey({ version: 4, ...parts });
  const keys = [new Certificate(key).userId("maker").armor()];
  return { ...good, signature: signDocument(key), keys };
}

const numberOf = (bits: number, octet: number) => Buffer.alloc(bits / 8, octet);
const hugeRsa = askHostile(rsa, [
  ...[numberOf(32_768, 255), numberOf(32_768, 255)],
]);
// A prime, 2^44497 - 1: it has no divisor in common with any signature, which would end the arithmetic early.
const prime = Buffer.concat([Buffer.of(1), Buffer.alloc(5562, 255)]);
/** Within all limits, and minutes of arithmetic on any machine. */
const slow = askHostile(dsa, [
  ...[numberOf(65_528, 255), prime, numberOf(65_528, 3), numberOf(65_528, 5)],
]);

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
    expect(await shared.decide(good)).toMatchObject({
      accepted: true,
      createdAt: expect.any(Date) as unknown,
    });
    const other = { ...good, document: Buffer.from("other") };
    expect(await shared.decide(other)).toMatchObject({
      accepted: false,
      reason: "bad-signature",
    });
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

describe("what is too large", () => {
  const [block = ""] = good.keys;
  const foreign = new Certificate().userId("another maker").armor();
  const filler = (length: number) => "\n".repeat(length - block.length);
  const trust = packet(12, Buffer.of());
  const signatureOf = (octets: number) => {
    const before = (octets - good.signature.length) >> 1;
    return Buffer.concat([
      ...Array.from({ length: before }, () => trust),
      good.signature,
    ]);
  };
  /** What is just read, and what is over that. */
  type Ask = (over: 0 | 1) => Partial<SignatureQuestion>;

  it.each<[string, Ask]>([
    [
      "16 key blocks",
      (over) => ({ keys: [...Array<string>(15 + over).fill(foreign), block] }),
    ],
    [
      "256 KiB of key text",
      (over) => ({ keys: [block, filler(256 * kibibyte + over)] }),
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
    expect(await shared.decide({ ...good, ...ask(1) })).toMatchObject({
      reason: "limits",
    });
  });

  it("is refused without a thread", async () => {
    const threads = open(patient);
    await threads.close();
    const keys = [armor(Buffer.alloc(37_000_000))];
    const decision = await threads.decide({ ...good, keys });
    expect(decision).toMatchObject({ accepted: false, reason: "limits" });
  });
});

const begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
const fill = (head: string, line: string) => {
  const times = Math.floor((256 * kibibyte - head.length) / line.length);
  return { keys: [`${head}${line.repeat(times)}`] };
};
/** A good key with so many of one packet behind it. */
const followed = (times: number, one: Buffer) => {
  const { packets } = new Certificate().userId("maker");
  return {
    keys: [
      armor(Buffer.concat([...packets, ...Array<Buffer>(times).fill(one)])),
    ],
  };
};
const foreign = forgeSignature(forgeKey(lastYear), document, {
  ...{ type: 0x10, createdAt: lastYear },
});
const hostile: readonly (readonly [string, Partial<SignatureQuestion>])[] = [
  ["RSA of 32,768 bits", hugeRsa],
  ["empty lines", fill("", "\n")],
  ["lines that begin as the last one", fill(`${begin}\n`, "-----\n")],
  ["90,000 packets", followed(90_000, packet(12, Buffer.of()))],
  ["1,000 certifications by others", followed(1_000, packet(2, foreign))],
];

describe("hostile keys", () => {
  it.each(hostile)("are refused: %s", async (_, change) => {
    const decided = await shared.decide({ ...good, ...change });
    expect(decided).toMatchObject({ accepted: false });
  });

  it("that take minutes end at the deadline, while others are decided and this thread goes on", async () => {
    const events: string[] = [];
    const ended = open(hasty)
      .decide(slow)
      .catch((error: unknown) => {
        events.push("ended");
        return error;
      });
    await setImmediate();
    events.push("went on");
    expect(await ended).toEqual(new Error(`no decision within ${hasty} ms`));
    expect(events).toEqual(["went on", "ended"]);
  });

  it("cost nothing beside the key that signed", async () => {
    const keys = [...slow.keys, ...good.keys];
    expect(await shared.decide({ ...good, keys })).toMatchObject({
      accepted: true,
    });
  });
});

describe("the threads", () => {
  it("count the deadline from when one begins, not from the question", async () => {
    const threads = open(hasty);
    const ended = await Promise.allSettled(
      Array.from({ length: 4 }, () => threads.decide(slow)),
    );
    expect(ended.map(({ status }) => status)).toEqual(
      Array(4).fill("rejected"),
    );
    for (const one of ended)
      expect(one).toMatchObject({
        reason: { message: `no decision within ${hasty} ms` },
      });
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

  it.each([
    ["what is under way and what waits", 2],
    ["nothing where nothing is asked of them", 0],
  ])("end %s, and decide nothing afterwards", async (_, tasks) => {
    const threads = open(patient);
    if (tasks > 0) await threads.decide(good);
    const begun = Array.from({ length: tasks }, () =>
      threads.decide(slow).catch((error: unknown) => error),
    );
    await setImmediate();
    await threads.close();
    for (const ended of await Promise.all(begun))
      expect(String(ended)).toMatch(/the thread(?:s ended| crashed)$/);
    await expect(threads.decide(good)).rejects.toThrow("the threads ended");
  });
});
