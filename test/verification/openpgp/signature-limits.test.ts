import { describe, expect, it } from "vitest";
import {
  Certificate,
  document,
  lastYear,
  now,
  outcome,
  signDocument,
} from "./certificates.ts";
import {
  armor,
  forgeKey,
  forgeSignature,
  mpi,
  packet,
  wrapKey,
  type ForgedKey,
} from "./forge.ts";
import { decideSignature } from "../../../src/verification/openpgp/signature.ts";
import { startProcessorTime } from "../../processor-time.ts";

const any = forgeKey(lastYear);

/** A key whose numbers are not what its private key computes with; nothing that it signs verifies. */
function hostileKey(algorithm: number, numbers: readonly Buffer[]): ForgedKey {
  const material = Buffer.concat(numbers.map(mpi));
  const { privateKey } = any;
  return wrapKey({
    version: 4,
    createdAt: lastYear,
    algorithm,
    material,
    privateKey,
  });
}

function ones(bits: number): Buffer {
  return Buffer.alloc(bits / 8, 0xff);
}

/** Certified by itself, with a signature that takes all the arithmetic to be found wrong. */
function certify(key: ForgedKey): Certificate {
  const certificate = new Certificate(key);
  const size = key.algorithm === 17 ? [ones(256), ones(256)] : [ones(8192)];
  const signature = Buffer.concat([
    Buffer.from([
      4,
      0x13,
      key.algorithm,
      8,
      0,
      6,
      5,
      2,
      0x66,
      0,
      0,
      0,
      0,
      10,
      9,
      16,
    ]),
    Buffer.from(key.fingerprint.slice(-16), "hex"),
    Buffer.of(0, 0),
    ...size.map(mpi),
  ]);
  certificate.packets.push(
    packet(13, Buffer.from("maker")),
    packet(2, signature),
  );
  return certificate;
}

async function timed(
  run: () => Promise<string>,
): Promise<{ got: string; ms: number }> {
  const taken = startProcessorTime();
  const got = await run();
  return { got, ms: taken() };
}

describe("hostile keys are refused before any arithmetic", () => {
  it.each([
    ["RSA of 32768 bits", hostileKey(1, [ones(32768), Buffer.of(1, 0, 1)])],
    ["RSA of 16392 bits", hostileKey(1, [ones(16392), Buffer.of(1, 0, 1)])],
    ["RSA of 1016 bits", hostileKey(1, [ones(1016), Buffer.of(1, 0, 1)])],
    ["RSA with an exponent of 1", hostileKey(1, [ones(2048), Buffer.of(1)])],
    [
      "RSA with an even modulus",
      hostileKey(1, [
        Buffer.concat([ones(2040), Buffer.of(2)]),
        Buffer.of(1, 0, 1),
      ]),
    ],
    [
      "DSA of 8192 bits",
      hostileKey(17, [ones(8192), ones(256), ones(8192), ones(8192)]),
    ],
    [
      "DSA with a subgroup of 512 bits",
      hostileKey(17, [ones(3072), ones(512), ones(3072), ones(3072)]),
    ],
  ])("%s", async (_name, key) => {
    const { got, ms } = await timed(() =>
      outcome([certify(key)], signDocument(any)),
    );
    expect(got).toBe("unusable-key");
    expect(ms).toBeLessThan(1_000);
    // A neighbour does not spoil the key that signed.
    const neighbours = Buffer.concat([
      certify(key).octets(),
      new Certificate(any).userId("maker").octets(),
      certify(key).octets(),
    ]);
    expect(await outcome([armor(neighbours)], signDocument(any))).toBe("ok");
  });

  it.each([
    [1016, "unusable-key"],
    [1024, "ok"],
  ] as const)(
    "RSA of %i bits that signs well is %s",
    async (bits, expected) => {
      const rsa = forgeKey(lastYear, { kind: `rsa${bits}` });
      const certificate = new Certificate(rsa).userId("maker");
      expect(await outcome([certificate], signDocument(rsa))).toBe(expected);
    },
  );

  it("RSA with n and e of 32768 bits is as if it were not there", async () => {
    const key = hostileKey(1, [ones(32768), ones(32768)]);
    const { got, ms } = await timed(() =>
      outcome([certify(key)], signDocument(any)),
    );
    expect(got).toBe("unusable-key");
    expect(ms).toBeLessThan(1_000);
  });
});

describe("sizes are bounded", () => {
  const good = new Certificate(any).userId("maker");
  const signature = signDocument(any);
  const question = {
    document,
    signature,
    keys: [good.armor()],
    profile: "terraform" as const,
    now,
  };
  const reasonOf = async (
    change: Partial<typeof question>,
  ): Promise<string> => {
    const decision = await Promise.resolve(
      decideSignature({ ...question, ...change }),
    );
    return decision.accepted ? "accepted" : decision.reason;
  };

  it("of all key text: 2 MiB", async () => {
    const filler = "x".repeat(2 * 1024 * 1024 - good.armor().length);
    expect(await reasonOf({ keys: [good.armor(), filler] })).toBe("accepted");
    expect(await reasonOf({ keys: [good.armor(), `${filler}x`] })).toBe(
      "limits",
    );
  });

  it("of an armor of 50 MB, at once", async () => {
    const huge = armor(Buffer.alloc(37_000_000));
    const { got, ms } = await timed(() => reasonOf({ keys: [huge] }));
    expect(got).toBe("limits");
    expect(ms).toBeLessThan(500);
  });

  it("of the number of keys: 16", async () => {
    const foreign = new Certificate().userId("other").armor();
    const others = Array.from({ length: 15 }, () => foreign);
    expect(await reasonOf({ keys: [...others, good.armor()] })).toBe(
      "accepted",
    );
    expect(await reasonOf({ keys: [...others, foreign, good.armor()] })).toBe(
      "limits",
    );
    // One text may hold many more certificates.
    const block = armor(
      Buffer.concat(Array.from({ length: 100 }, () => good.octets())),
    );
    expect(await reasonOf({ keys: [block] })).toBe("accepted");
  });

  it("of a signature: 16 KiB", async () => {
    const trailed = (length: number) =>
      Buffer.concat([signature, Buffer.alloc(length - signature.length)]);
    expect(await reasonOf({ signature: trailed(16 * 1024) })).toBe("accepted");
    expect(await reasonOf({ signature: trailed(16 * 1024 + 1) })).toBe(
      "limits",
    );
  });

  it("of a document: 16 MiB", async () => {
    const most = 16 * 1024 * 1024;
    expect(await reasonOf({ document: Buffer.alloc(most) })).toBe(
      "bad-signature",
    );
    expect(await reasonOf({ document: Buffer.alloc(most + 1) })).toBe("limits");
  });

  it("not of the number of packets, which cost nothing", async () => {
    const trust = packet(12, Buffer.of());
    const padded = Buffer.concat([
      good.octets(),
      ...Array.from({ length: 95_000 }, () => trust),
    ]);
    const { got, ms } = await timed(() => reasonOf({ keys: [armor(padded)] }));
    expect(got).toBe("accepted");
    expect(ms).toBeLessThan(1_000);
    const many = Array.from({ length: 5_000 }, () => trust);
    expect(
      await reasonOf({ signature: Buffer.concat([...many, signature]) }),
    ).toBe("accepted");
  });

  it("not of certifications by others, which are not verified", async () => {
    const crowded = new Certificate(any).userId("maker");
    const other = forgeKey(lastYear);
    const certification = packet(
      2,
      forgeSignature(other, document, { type: 0x10, createdAt: lastYear }),
    );
    for (let count = 0; count < 5_000; count++)
      crowded.packets.push(certification);
    const { got, ms } = await timed(() => outcome([crowded], signature));
    expect(got).toBe("ok");
    expect(ms).toBeLessThan(1_000);
  });

  it("of user IDs and subkeys that each need a verification", async () => {
    const crowded = new Certificate(any);
    for (let count = 0; count < 511; count++) crowded.userId(`maker ${count}`);
    expect(await outcome([crowded], signature)).toBe("ok");
    crowded.userId("maker 511");
    const { got, ms } = await timed(() => outcome([crowded], signature));
    expect(got).toBe("limits");
    expect(ms).toBeLessThan(1_000);
    // A binding and its cross-signature each, beside the self-signature.
    const subkey = forgeKey(lastYear);
    const bound = new Certificate(any).userId("maker").signingSubkey(subkey);
    const [primary, id, self, ...binding] = bound.packets;
    const times = (count: number) =>
      Buffer.concat([
        ...[primary, id, self].map((one) => one ?? Buffer.of()),
        ...Array.from({ length: count }, () => binding).flat(),
      ]);
    expect(await outcome([armor(times(255))], signature)).toBe("ok");
    expect(await outcome([armor(times(256))], signature)).toBe("limits");
  });
});
