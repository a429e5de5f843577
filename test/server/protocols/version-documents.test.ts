import { describe, expect, it } from "vitest";
import { bearer, issueToken } from "../../client-token.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import { codeOf, makeModuleScene } from "../../scenes/module-scene.ts";
import { startOrigin } from "../../scenes/world.ts";

const providers = "providers.example.com";
const modules = "registry.terraform.io";
const published = "2024-02-03T04:05:06.000Z";

const scene = await makeModuleScene();
const { authority, registry } = await startOrigin();
await registry.publish({ type: "demo", version: "1.0.0" });
for (const version of ["1.0.0", "2.0.0"])
  scene.origin.publish("acme/network/aws", version, "./network.zip");
scene.origin.answer("/v2/modules/acme/network/aws", {
  included: [
    { attributes: { version: "1.0.0", "published-at": published } },
    { attributes: { version: "2.0.0", "published-at": new Date() } },
  ],
});
const ci = issueToken("ci");
const mirror = await startMirror({
  config: {
    auth: { tokens: [ci.configured] },
    origins: {
      ...originsOf(authority, registry, {}, providers).origins,
      ...(scene.configOf() as { origins: object }).origins,
    },
    policy: {
      rules: [{ match: `${modules}/*/*/*`, action: "allow", minimumAge: "3d" }],
    },
  },
});

const ask = (path: string) => mirror.get(path, bearer(ci.token));

describe.each([
  ["of any origin", (host: string, room: string) => `/v1/${room}/${host}`],
  [
    "of each origin",
    (host: string, room: string) => `/registry/${host}/v1/${room}`,
  ],
])("the document of one version, from the registry %s", (_, locate) => {
  const provider = (version: string) =>
    ask(`${locate(providers, "providers")}/acme/demo/${version}`);
  const module = (version: string) =>
    ask(`${locate(modules, "modules")}/acme/network/aws/${version}`);

  it("says of a provider what is known", async () => {
    const answer = await provider("1.0.0");
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      id: "acme/demo/1.0.0",
      ...{ namespace: "acme", name: "demo", version: "1.0.0" },
      protocols: ["5.0"],
    });
  });

  it("says of a module when it was published, where its registry does", async () => {
    expect((await module("1.0.0")).json()).toEqual({
      id: "acme/network/aws/1.0.0",
      ...{ namespace: "acme", name: "network", provider: "aws" },
      ...{ version: "1.0.0", published_at: published },
    });
  });

  it("is there for what clients may have alone", async () => {
    expect((await provider("9.0.0")).status).toBe(404);
    expect((await provider("versionz")).status).toBe(400);
    const young = await module("2.0.0");
    expect([young.status, codeOf(young)]).toEqual([451, "too-young"]);
    expect((await module("9.0.0")).status).toBeGreaterThanOrEqual(404);
  });
});

describe("service discovery, with exactly application/json and to everybody,", () => {
  const wellKnown = ".well-known/terraform.json";
  const cases = [
    // The mirror's own names the services of the first origin.
    ["", `v1/providers/${modules}/`, `v1/modules/${modules}/`],
    ...[providers, modules].map((host) => {
      const base = `registry/${host}/`;
      return [base, `${base}v1/providers/`, `${base}v1/modules/`] as const;
    }),
  ] as const;

  it.each(cases)("of /%s is %s and %s", async (base, ...services) => {
    const [provider, module] = services;
    const answer = await mirror.get(`/${base}${wellKnown}`);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      "providers.v1": `${mirror.url}${provider}`,
      "modules.v1": `${mirror.url}${module}`,
    });
    const head = await mirror.get(`/${base}${wellKnown}`, { method: "HEAD" });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers["content-type"]).toBe("application/json");
  });

  it("is of no hostname that is none", async () => {
    expect((await mirror.get(`/registry/a_b/${wellKnown}`)).status).toBe(400);
  });
});
