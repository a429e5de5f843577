import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tarGz } from "../fakes/module-archive.ts";
import { issueToken } from "../client-token.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { makeModuleScene, type ModuleScene } from "../scenes/module-scene.ts";
import { checkovPython } from "./programs.ts";

const python = checkovPython ?? "";

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

/** Makes Python trust these roots: checkov uses certifi's, and ignores the environment. */
function trusting(caFile: string): string {
  const folder = scratch("python");
  const text = `import certifi\ncertifi.where = lambda: ${JSON.stringify(caFile)}\n`;
  writeFileSync(join(folder, "sitecustomize.py"), text);
  return folder;
}

it.runIf(checkovPython !== undefined)(
  "Checkov scans a module that comes from the mirror",
  { timeout: 180_000 },
  async () => {
    const { host } = new URL(mirror.url);
    const directory = scratch("scanned");
    const source = `${host}/acme/network/aws`;
    writeFileSync(
      join(directory, "main.tf"),
      `module "network" {\n  source  = "${source}"\n  version = "1.0.0"\n}\n`,
    );
    const { promise, resolve } = Promise.withResolvers<string>();
    execFile(
      python,
      [
        ...["-m", "checkov.main", "--directory", directory, "--quiet"],
        ...["--framework", "terraform", "--output", "json"],
        ...["--download-external-modules", "true"],
      ],
      {
        maxBuffer: 64 * 1024 * 1024,
        env: {
          PATH: process.env.PATH,
          HOME: scratch("home"),
          ...{ TF_HOST_NAME: host, TF_REGISTRY_TOKEN: token.token },
          PYTHONPATH: trusting(mirror.caFile),
        },
      },
      (_, stdout, stderr) => resolve(`${stdout}\n${stderr}`),
    );
    const printed = await promise;
    expect(printed).toContain(
      '"resource": "module.network.aws_s3_bucket.open"',
    );
    expect(scene.origin.count("/files/network.tar.gz")).toBe(1);
  },
);
