import { createECDH } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  Certificate,
  lastYear,
  mayBoth,
  outcome,
  signDocument,
} from "../certificates.ts";
import {
  armor,
  forgeKey,
  forgeSignature,
  keyFlags,
  keyIdOf,
  mpi,
  packet,
  userIdHashed,
  type ForgedKey,
} from "../forge.ts";

const p256 = createECDH("prime256v1");
p256.generateKeys();

describe("a certificate is unusable", () => {
  const expectUnusable = async (certificate: Certificate): Promise<void> => {
    const { primary } = certificate;
    expect(await outcome([certificate], signDocument(primary))).toBe(
      "unusable-key",
    );
  };

  it("without a user ID", () => expectUnusable(new Certificate()));

  it("with a user ID that only others certified", async () => {
    const certificate = new Certificate();
    const { primary } = certificate;
    const other = forgeKey(lastYear);
    const signed = userIdHashed(primary, "maker");
    certificate.packets.push(
      packet(13, Buffer.from("maker")),
      packet(
        2,
        forgeSignature(other, signed, { type: 0x13, createdAt: lastYear }),
      ),
    );
    await expectUnusable(certificate);
  });

  it("with a self-signature that does not verify", async () => {
    const certificate = new Certificate().userId("maker");
    const last = certificate.packets.at(-1);
    if (last) last[last.length - 1] = (last.at(-1) ?? 0) ^ 1;
    await expectUnusable(certificate);
  });

  it("with a signature over another user ID", () =>
    expectUnusable(new Certificate().userId("maker").onUserId("other", 0x13)));

  it("with a signature of another type over its user ID", () =>
    expectUnusable(new Certificate().userId("maker").onUserId("maker", 0x18)));

  it("with a signature of another type over a subkey", async () => {
    const subkey = forgeKey(lastYear);
    await expectUnusable(
      new Certificate()
        .userId("maker")
        .signingSubkey(subkey)
        .onSubkey(subkey, 0x13),
    );
  });

  it("with a signing subkey that did not sign back", async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate().userId("maker");
    certificate.packets.push(packet(14, subkey.body));
    certificate.onSubkey(subkey, 0x18, { subpackets: [keyFlags(2)] });
    await expectUnusable(certificate);
  });

  it("with the cross-signature of another key", async () => {
    const [subkey, other] = [forgeKey(lastYear), forgeKey(lastYear)];
    const certificate = new Certificate().userId("maker");
    const signed = Buffer.concat([certificate.primary.hashed, subkey.hashed]);
    const forged = { type: 0x19, createdAt: lastYear };
    const content = forgeSignature(other, signed, forged);
    certificate.packets.push(packet(14, subkey.body));
    certificate.onSubkey(subkey, 0x18, {
      subpackets: [keyFlags(2), { type: 32, content }],
    });
    await expectUnusable(certificate);
  });

  it("with an embedded signature that is no cross-signature", async () => {
    const subkey = forgeKey(lastYear);
    await expectUnusable(
      new Certificate()
        .userId("maker")
        .signingSubkey(subkey, {}, { type: 0x18 }),
    );
  });

  it("with a user ID certification that names another fingerprint of the same key ID", async () => {
    const certificate = new Certificate();
    certificate.packets.push(packet(13, Buffer.from("maker")));
    const id = keyIdOf(certificate.primary);
    const content = Buffer.from(`04${"00".repeat(12)}${id}`, "hex");
    certificate.onUserId("maker", 0x13, {
      anonymous: true,
      subpackets: [keyFlags(mayBoth), { type: 33, content }],
    });
    await expectUnusable(certificate);
  });

  it("with a subkey that is only revoked", async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate().userId("maker");
    certificate.packets.push(packet(14, subkey.body));
    await expectUnusable(certificate.onSubkey(subkey, 0x28));
  });

  it("with a user certification after a subkey", async () => {
    const subkey = forgeKey(lastYear);
    await expectUnusable(
      new Certificate()
        .userId("maker")
        .signingSubkey(subkey)
        .onUserId("maker", 0x13),
    );
  });

  it("of version 6 without a direct-key signature", async () => {
    const primary = forgeKey(lastYear, { version: 6 });
    await expectUnusable(new Certificate(primary).userId("maker"));
  });

  it("of version 6 with a direct-key signature over another key", async () => {
    const [primary, other] = [1, 2].map(() =>
      forgeKey(lastYear, { version: 6 }),
    ) as [ForgedKey, ForgedKey];
    const certificate = new Certificate(primary);
    const forged = {
      type: 0x1f,
      createdAt: lastYear,
      subpackets: [keyFlags(mayBoth)],
    };
    const direct = forgeSignature(primary, other.hashed, forged);
    certificate.packets.push(packet(2, direct));
    await expectUnusable(certificate);
  });
});

describe("a certificate is unreadable", () => {
  it.each([
    ["not on its curve", Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)])],
    ["compressed", p256.getPublicKey(null, "compressed")],
  ])("with a subkey whose point is %s", async (_name, point) => {
    const certificate = new Certificate().userId("maker");
    const oid = Buffer.from("082a8648ce3d030107", "hex");
    const head = Buffer.from([4, 0, 0, 0, 1, 19]);
    const body = Buffer.concat([head, oid, mpi(point)]);
    certificate.packets.push(packet(14, body));
    const signature = signDocument(certificate.primary);
    expect(await outcome([certificate], signature)).toBe("unreadable-key");
  });
});

describe("a certificate is usable", () => {
  it("of version 6 with a direct-key signature and no user ID", async () => {
    const primary = forgeKey(lastYear, { version: 6 });
    const certificate = new Certificate(primary).direct(0x1f, {
      subpackets: [keyFlags(mayBoth)],
    });
    expect(await outcome([certificate], signDocument(primary))).toBe("ok");
  });

  it("of version 6 with a newer direct-key signature by another", async () => {
    const [primary, other] = [1, 2].map(() =>
      forgeKey(lastYear, { version: 6 }),
    ) as [ForgedKey, ForgedKey];
    const certificate = new Certificate(primary).direct(0x1f, {
      subpackets: [keyFlags(mayBoth)],
    });
    const forged = { type: 0x1f, createdAt: lastYear + 1 };
    const direct = forgeSignature(other, primary.hashed, forged);
    certificate.packets.push(packet(2, direct));
    expect(await outcome([certificate], signDocument(primary))).toBe("ok");
  });

  it("with octets in a user ID that are not UTF-8", async () => {
    const certificate = new Certificate();
    const id = Buffer.from("M\u00fcller", "latin1");
    const { primary } = certificate;
    const prefix = Buffer.from([0xb4, 0, 0, 0, id.length]);
    const signed = Buffer.concat([primary.hashed, prefix, id]);
    const forged = {
      type: 0x13,
      createdAt: lastYear,
      subpackets: [keyFlags(mayBoth)],
    };
    certificate.packets.push(
      packet(13, id),
      packet(2, forgeSignature(primary, signed, forged)),
    );
    expect(await outcome([certificate], signDocument(primary))).toBe("ok");
  });

  it("with a subkey that only encrypts and did not sign back", async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate().userId("maker");
    certificate.packets.push(packet(14, subkey.body));
    certificate.onSubkey(subkey, 0x18, { subpackets: [keyFlags(0x0c)] });
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("ok");
  });

  it("when another one in its block is not", async () => {
    const certificate = new Certificate().userId("maker");
    const block = armor(
      Buffer.concat([new Certificate().octets(), certificate.octets()]),
    );
    expect(await outcome([block], signDocument(certificate.primary))).toBe(
      "ok",
    );
  });
});
