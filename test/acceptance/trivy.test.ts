import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueToken } from "../client-token.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { calling } from "../scenes/module-calls.ts";
import { makeModuleScene, type ModuleScene } from "../scenes/module-scene.ts";
import { execute } from "./clients.ts";
import { trivy } from "./programs.ts";

const token = issueToken("scanner");

let scene: ModuleScene;
let mirror: RunningMirror;

beforeAll(async () => {
  scene = await makeModuleScene();
  const bucket = 'resource "aws_s3_bucket" "open" {\n  bucket = "open"\n}\n';
  const bytes = await tarGz([["main.tf", bucket]]);
  const url = scene.origin.serve("/files/network.tar.gz", bytes);
  scene.origin.publish("acme/network/aws", "1.0.0", url);
  const auth = { tokens: [token.configured] };
  mirror = await startMirror({ config: scene.configOf({ auth }) });
});

afterAll(() => Promise.all([mirror.stop(), scene.origin.stop()]));

it.runIf(trivy !== undefined)(
  "Trivy scans a module that comes from the mirror",
  { timeout: 120_000 },
  async () => {
    const { host } = new URL(mirror.url);
    const directory = scratch("scanned");
    const called = calling(`${host}/acme/network/aws`, "1.0.0");
    writeFileSync(join(directory, "main.tf"), called);
    const home = scratch("home");
    const { stdout, stderr } = await execute(
      trivy?.binary ?? "",
      [
        ...["config", "--format", "json", "--cache-dir", home],
        ...["--skip-check-update", "--skip-version-check"],
        ...["--disable-telemetry", "--debug", directory],
      ],
      {
        cwd: directory,
        timeout: 110_000,
        env: {
          PATH: process.env.PATH,
          ...{ HOME: home, TMPDIR: home },
          SSL_CERT_FILE: mirror.caFile,
          [`TF_TOKEN_${host.replaceAll(".", "_")}`]: token.token,
        },
      },
    );
    expect(stdout, stderr).toContain(`"${host}/acme/network/aws/main.tf"`);
    expect(scene.origin.count("/files/network.tar.gz")).toBe(1);
  },
);
