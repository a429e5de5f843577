import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import {
  makeModuleScene,
  type ModuleScene,
} from "../../scenes/module-scene.ts";
import { issueToken } from "../../client-token.ts";
import { deployments } from "../../scenes/deployments.ts";

const providers = "providers.example.com";
const modules = "registry.terraform.io";
const ci = issueToken("ci");

let scene: ModuleScene;
let authority: Authority;
let registry: Registry;
let release: Release;
let bytes: Buffer;
let mirror: RunningMirror | undefined;

beforeAll(async () => {
  scene = await makeModuleScene();
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  release = await registry.publish({ type: "demo", version: "1.0.0" });
  bytes = await tarGz([["modules/vpc/main.tf", "# a module"]]);
  const url = scene.origin.serve("/files/network.tgz", bytes);
  scene.origin.publish("acme/network/aws", "1.0.0", `${url}//modules/vpc`);
});
afterEach(() => mirror?.stop());
afterAll(() => Promise.all([scene.origin.stop(), registry.stop()]));

/** The rows of any origin, of each origin, and of the host itself, where a module's origin is the discovery's. */
const faces: readonly ((host: string, room: string) => string)[] = [
  (host, room) => `v1/${room}/${host}/`,
  (host, room) => `registry/${host}/v1/${room}/`,
  (host, room) => (room === "modules" ? "v1/modules/" : `v1/${room}/${host}/`),
];

it.each(deployments)(
  "leads to each file from every registry, $name",
  async ({ config, headers, base: known, isAbsolute }) => {
    const running = await startMirror({
      config: {
        ...scene.configOf(),
        origins: {
          ...(scene.configOf() as { origins: object }).origins,
          ...originsOf(authority, registry, {}, providers).origins,
        },
        ...config,
      },
    });
    mirror = running;
    const base = known ?? running.url;
    const ask = (path: string) =>
      running.get(`/${path}`, { headers: headers ?? {} });
    /** As clients resolve it, and without a token, as they follow it. */
    const follow = async (asked: string, reference: string) => {
      expect(reference.startsWith(base)).toBe(isAbsolute);
      const { href } = new URL(reference, `${base}${asked}`);
      expect(href.startsWith(base)).toBe(true);
      const answer = await running.get(`/${href.slice(base.length)}`);
      expect(answer.status).toBe(200);
      return answer.body;
    };

    for (const locate of faces) {
      const asked = `${locate(providers, "providers")}acme/demo/1.0.0/download/linux/amd64`;
      const found = (await ask(asked)).json() as Record<string, string>;
      const archive = await follow(asked, String(found.download_url));
      expect(archive.equals(release.archive("linux_amd64").bytes)).toBe(true);
      const sums = await follow(asked, String(found.shasums_url));
      expect(sums.toString()).toBe(release.checksums);
      const { shasums_signature_url: signatureUrl = "" } = found;
      const signature = await follow(asked, signatureUrl);
      expect(signature.equals(release.signature)).toBe(true);

      const module = `${locate(modules, "modules")}acme/network/aws/1.0.0/download`;
      const located = await ask(module);
      const location = String(located.headers["x-terraform-get"]);
      const [, place = ""] =
        /^(.*\.tar\.gz)\/\/modules\/vpc$/.exec(location) ?? [];
      expect((await follow(module, place)).equals(bytes)).toBe(true);
    }
  },
);

it("names the services of each origin below a path of it, to everybody", async () => {
  const config = scene.configOf({ auth: { tokens: [ci.configured] } });
  const running = await startMirror({ config });
  mirror = running;
  const { url } = running;
  const get = (path: string, headers = {}) => running.get(path, { headers });
  const path = `/registry/${modules}/.well-known/terraform.json`;
  const answer = await get(path);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.json()).toEqual({
    "providers.v1": `${url}registry/${modules}/v1/providers/`,
    "modules.v1": `${url}registry/${modules}/v1/modules/`,
  });
  const relative = await get(path, { via: "1.1 proxy" });
  const services = relative.json() as Record<string, string>;
  const proxied = `https://proxy.example.com/tools${path}`;
  expect(new URL(String(services["modules.v1"]), proxied).href).toBe(
    `https://proxy.example.com/tools/registry/${modules}/v1/modules/`,
  );
  const bad = await get("/registry/a_b/.well-known/terraform.json");
  expect(bad.status).toBe(400);
});
