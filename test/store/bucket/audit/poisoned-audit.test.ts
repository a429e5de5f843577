import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  it,
  onTestFinished,
} from "vitest";
import { verifyAudit } from "../../../../src/commands/audit/verify.ts";
import { downloadAudit } from "../../../../src/store/bucket/audit/audit-download.ts";
import {
  nameReplica,
  readAuditHead,
} from "../../../../src/store/bucket/audit/audit-head.ts";
import { AuditUpload } from "../../../../src/store/bucket/audit/audit-upload.ts";
import { bodyOf } from "../../../../src/store/bucket/bucket-connection.ts";
import { Bucket } from "../../../../src/store/bucket/bucket.ts";
import { auditHead, auditSegment } from "../../../../src/store/layout.ts";
import { expectDocument } from "../../../commands/documents.ts";
import { startBucketProxy } from "../../../fakes/bucket-proxy.ts";
import { bucketLimits } from "../../../fakes/ceph.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../../fakes/loose-bucket.ts";
import { scratch } from "../../../running-mirror.ts";
import { makePart } from "../../../scenes/bucket-configuration.ts";
import {
  AuditDirectory,
  at,
  durable,
  signing,
} from "../../../telemetry/audit-directory.ts";

let loose: LooseBucket;
const opened: Bucket[] = [];

beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: true });
});
afterAll(async () => {
  for (const bucket of opened) await bucket.close();
  await loose.stop();
});

function openBucket(settings = makePart(loose)): Bucket {
  const bucket = new Bucket(settings, bucketLimits);
  opened.push(bucket);
  return bucket;
}

/** Of somebody who writes to the bucket and has a key, as everybody may. */
function makeStranger() {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = createPublicKey(privateKey)
    .export({ type: "spki", format: "pem" })
    .toString();
  return { replica: nameReplica(privateKey), key };
}

describe("what somebody wrote into the bucket beside the audit logs", () => {
  it.each([
    "../../../audit/decisions",
    "../outside",
    "audit/../../outside",
    "decisions.1",
    "",
  ])("names no file to be written: %s", async (name) => {
    const bucket = openBucket();
    const directory = scratch("audit");
    const folder = join(directory, "staging", "one");
    const places = [
      join(directory, "audit", "decisions.jsonl"),
      join(directory, "staging", "outside.jsonl"),
      join(folder, "outside.jsonl"),
    ];
    for (const place of places) {
      mkdirSync(join(place, ".."), { recursive: true });
      writeFileSync(place, "what was decided\n");
    }
    const { replica, key } = makeStranger();
    const logs = { [name]: { lines: 0 }, audit: { lines: 0 } };
    const head = bodyOf(JSON.stringify({ key, logs }));
    await bucket.put(auditHead(replica), head);
    await downloadAudit(bucket, "own", folder);
    for (const place of places)
      expect(readFileSync(place, "utf8")).toBe("what was decided\n");
  });

  it("says nothing of any key where it is larger than a replica writes it, and hides no other", async () => {
    const bucket = openBucket();
    const place = { date: "2026-11-21", log: "audit", seq: 1 };
    const [large, other] = [makeStranger().replica, makeStranger().replica];
    for (const replica of [large, other])
      await bucket.put(auditSegment({ ...place, replica }), bodyOf("line\n"));
    await bucket.put(auditHead(large), bodyOf(" ".repeat(5 * 1024 * 1024)));
    const logs = await downloadAudit(bucket, "own", scratch("audit"));
    expect(logs.map(({ replica }) => replica).toSorted()).toEqual(
      [large, other].toSorted(),
    );
    expect(await readAuditHead(bucket, large)).toBeUndefined();
  });

  it("fills no disk", async () => {
    const bucket = openBucket();
    const folder = scratch("audit");
    const { replica } = makeStranger();
    const date = "2026-11-21";
    const place = { date, replica, log: "audit" };
    const large = bodyOf(Buffer.alloc(17 * 1024 * 1024));
    await bucket.put(auditSegment({ ...place, seq: 1 }), large);
    await bucket.put(auditSegment({ ...place, seq: 2 }), bodyOf("line\n"));
    const [log] = await downloadAudit(bucket, "own", folder);
    expect(readFileSync(log?.path ?? "", "utf8")).toBe("line\n");
  });
});

/** A log of some lines, on its way into a bucket of its own. */
async function startUpload() {
  const settings = makePart(loose);
  const bucket = openBucket(settings);
  const directory = await AuditDirectory.create();
  const shared = signing(directory.path);
  const lines = directory.open(shared);
  for (const event of ["approved", "revoked"] as const)
    await lines.record({ event, verdict: "accepted" }, durable);
  const failures: unknown[] = [];
  const toRead = { path: directory.path, ...shared };
  const upload = (by = settings) =>
    new AuditUpload(openBucket(by), [toRead], {
      exclusively: (work) => work(),
      problem: () => undefined,
      onLost: () => undefined,
      onFailed: (error) => failures.push((error as Error).message),
    });
  const replica = nameReplica(await shared.checkpoints.key);
  return { bucket, settings, replica, lines, upload, failures };
}

describe("lines of the audit log", () => {
  const forged = `{"event":"served","seq":999999,"prev":"${"0".repeat(64)}"}\n`;

  it.each([
    ["numbered as if they ended much later", forged],
    ["of another log", forged.replace("999999", "2")],
    ["none at all", "nothing\n"],
  ])(
    "are not taken for brought where somebody else's are in their place: %s",
    async (_, text) => {
      const { bucket, replica, upload, failures } = await startUpload();
      const date = at.toISOString().slice(0, 10);
      const key = auditSegment({ date, replica, log: "audit", seq: 1 });
      await bucket.put(key, bodyOf(text));
      expect(await upload().close(true)).toMatch(
        new RegExp(`is not of this log\\): .* what replica ${replica} did not`),
      );
      expect(failures).toHaveLength(1);
      expect(await readAuditHead(bucket, replica)).toBeUndefined();
    },
  );

  it("are not taken for brought because the bucket says that it has more than there are", async () => {
    const { bucket, replica, lines, upload, failures } = await startUpload();
    const first = upload();
    await first.bring();
    const head = await readAuditHead(bucket, replica);
    const had = head?.logs.audit?.lines ?? 0;
    expect(had).toBeGreaterThan(1);
    const logs = { audit: { lines: 1_000_000 } };
    const said = bodyOf(JSON.stringify({ ...head, logs }));
    await bucket.put(auditHead(replica), said);
    await lines.record({ event: "revoked", verdict: "accepted" }, durable);
    for (const one of [first, upload()])
      expect(await one.close(true)).toMatch(
        new RegExp(
          `it has 1000000 lines of audit, which has ${had + 1}\\): restore`,
        ),
      );
    expect(failures).toHaveLength(2);
    expect((await readAuditHead(bucket, replica))?.logs.audit?.lines).toBe(
      1_000_000,
    );
  });

  it("are checked beside those of a replica that nobody knows the key of, which are proven by nothing", async () => {
    const { bucket, replica, upload } = await startUpload();
    await upload().close(true);
    const stranger = makeStranger().replica;
    const place = { date: "2026-11-21", replica: stranger, log: "audit" };
    await bucket.put(auditSegment({ ...place, seq: 1 }), bodyOf(forged));
    const logs = await downloadAudit(bucket, "own", scratch("audit"));
    let text = "";
    const print = (more: string) => void (text += more);
    expect(await verifyAudit(logs, { json: true }, print)).toBe(1);
    const { ok, logs: verified } = expectDocument("audit --verify", text) as {
      readonly ok: boolean;
      readonly logs: readonly { readonly replica: string }[];
    };
    expect(ok).toBe(false);
    expect(verified).toHaveLength(2);
    expect(verified.find((one) => one.replica === replica)).toMatchObject({
      breaks: [],
      lines: expect.any(Number) as number,
    });
    expect(verified.find((one) => one.replica === stranger)).toMatchObject({
      breaks: [{ file: "audit.jsonl", line: 1, kind: "checkpoint" }],
      ...{ lines: 0, key: "" },
    });
    await verifyAudit(logs, { json: false }, print);
    expect(text).toContain(
      `${stranger}/audit.jsonl:1: checkpoint: this line is of a replica that no key in the bucket tells of.`,
    );
  });

  it("are nobody else's where the bucket fails while they come, and come with the next", async () => {
    const { settings, bucket, replica, upload } = await startUpload();
    const proxy = await startBucketProxy(settings);
    onTestFinished(() => proxy.stop());
    proxy.intercept = (step, asked) =>
      step === "asked" && asked.startsWith("PUT audit/") ? 503 : undefined;
    const failed = await upload(proxy.settings).close(true);
    expect(failed).toContain("does not answer (503)");
    proxy.intercept = () => undefined;
    expect(await upload(proxy.settings).close(true)).toBeUndefined();
    const { logs } = (await readAuditHead(bucket, replica)) ?? {};
    expect(logs?.audit?.lines).toBeGreaterThan(1);
  });
});
