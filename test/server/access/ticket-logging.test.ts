import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { request } from "node:https";
import { awaitLine } from "../../scenes/log-lines.ts";
import {
  AuthenticationScene,
  fileOf,
} from "../../scenes/authentication-scene.ts";
import { awaitAudit, readAudit } from "../../scenes/provider-requests.ts";

const scene = await AuthenticationScene.start();

/** Sends a path as it is written; the status, and the id of the answer. */
function ask(path: string): Promise<{ status: number; id: unknown }> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(scene.mirror.url);
    const ca = readFileSync(scene.mirror.caFile);
    request({ host, port, ca, path, agent: false }, (answer) => {
      answer.resume();
      const id = answer.headers["x-request-id"];
      resolve({ status: answer.statusCode ?? 0, id });
    })
      .on("error", reject)
      .end();
  });
}

/** Changes to a signed path, or parts of one. */
const variants: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path}.bak`,
  (path) => `${path}?x=1`,
  (path) => `/${path}`,
  (path) => path.replaceAll("/", "//"),
  (path) => path.replace(/\/[^/]+$/, ""),
  (path) => path.replace(/\/[^/]+$/, "/"),
  (path) => path.replace(/\/[^/]+$/, "/index.json"),
  (path) => path.toUpperCase(),
  (path) => path.replace(/\.(?=[^./]*\/[^/]*$)/, "%2e"),
  (path) => path.replaceAll("/", "%2F"),
  (path) => path.replace("/providers/", "/v1/providers/"),
  (path) => path.replace("/providers/", "/v1/modules/"),
  (path) => path.replace("/providers/", "/no-such-page/"),
  (path) => path.replace("registry.terraform.io", "elsewhere.example"),
  (path) => path.replace(/_linux_amd64/, "_plan9_mips"),
  (path) => path,
];

/** Everything that was written down so far. */
function readLogs(): string {
  return JSON.stringify([scene.mirror.log, readAudit(scene.mirror)]);
}

async function expectUnlogged(signed: string): Promise<ReadonlySet<number>> {
  const [ticket = ""] = /[0-9]{13}\.[^/]*(?=\/[^/]*$)/.exec(signed) ?? [];
  const [, , signature = ""] = ticket.split(".");
  expect(signature).toHaveLength(43);
  const statuses = new Set<number>();
  for (const vary of variants) {
    const { status, id } = await ask(vary(signed));
    await awaitLine(
      scene.mirror,
      ({ requestId, msg }) => requestId === id && msg !== "audit",
    );
    statuses.add(status);
  }
  const logs = readLogs().toLowerCase();
  expect(logs).toContain('"msg":"request"');
  for (const secret of [ticket, signature, signature.slice(0, 30)])
    expect(logs).not.toContain(secret.toLowerCase());
  return statuses;
}

it("never logs a signed URL, with any text around it", async () => {
  const statuses = await expectUnlogged(await scene.signedPath("1.0.0"));
  expect(statuses).toEqual(new Set([200, 400, 401]));
});

it("never writes one down that is good, in what it says of 404 and 451", async () => {
  const { mirror } = scene;
  const folder = "/providers/registry.terraform.io/acme/";
  const good = (path: string) => scene.forge(path, Date.now() + 60_000);
  const statuses: number[] = [];
  const paths = [
    `${folder}widget/${fileOf("1.0.0", "plan9_mips")}`,
    `${folder.replace("registry.terraform.io", "elsewhere.example")}widget/${fileOf("1.0.0")}`,
    "/no-such-folder/no-such-page",
  ].map(good);
  for (const path of paths) statuses.push((await ask(path)).status);
  await awaitAudit(
    mirror,
    ({ reason, provider }) =>
      reason !== undefined && provider === "elsewhere.example/acme/widget",
  );
  expect(statuses).toEqual([404, 451, 404]);
  const logs = readLogs();
  for (const path of paths)
    expect(logs).not.toContain(/\.([\w-]{43})\//.exec(path)?.[1] ?? path);
});
