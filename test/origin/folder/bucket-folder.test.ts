import { afterAll, beforeAll, expect, it } from "vitest";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../fakes/loose-bucket.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";

let bucket: LooseBucket;
let mirror: RunningMirror;

beforeAll(async () => {
  bucket = await startLooseBucket({ keepsConditions: true });
  const directory = scratch("replica");
  mirror = await startMirror({
    directory,
    config: {
      listen: { port: 0, tls: "off" },
      storage: { directory, s3: bucket.settings },
      origins: { "private.example.com": { bucketPrefix: "providers" } },
    },
  });
});
afterAll(async () => {
  await mirror.stop();
  await bucket.stop();
});

const key =
  "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n";
const name = "terraform-provider-demo_1.0.0_";
const release = `demo/1.0.0/${name}`;
const lines = ["linux_amd64.zip", "manifest.json"].map(
  (file) => `${"a".repeat(64)}  ${name}${file}\n`,
);
const files = {
  "keys/acme.asc": key,
  [`${release}linux_amd64.zip`]: "an archive",
  [`${release}manifest.json`]: '{"metadata":{"protocol_versions":["5.0"]}}',
  [`${release}SHA256SUMS`]: lines.join(""),
  [`${release}SHA256SUMS.sig`]: "a signature",
};

it.each([
  ["signature", `${release}SHA256SUMS.sig`, 17_000],
  ["manifest", `${release}manifest.json`, 66_000],
  ["key", "keys/acme.asc", 2_100_000],
])(
  "a %s in the bucket that is too large is refused, and ends no daemon",
  async (_, large, size) => {
    const objects = bucket.objects as Map<string, Buffer>;
    for (const [file, text] of Object.entries(files))
      objects.set(`providers/acme/${file}`, Buffer.from(text));
    objects.set(`providers/acme/${large}`, Buffer.alloc(size));
    const path = "/providers/private.example.com/acme/demo/1.0.0.json";
    expect((await mirror.get(path)).status).toBeGreaterThan(400);
    expect((await mirror.get("/healthz")).status).toBe(200);
    const alarms = mirror.log.map(({ alarm }) => alarm);
    expect(alarms).not.toContain("unexpected-error");
  },
);
