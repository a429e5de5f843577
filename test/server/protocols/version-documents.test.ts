import { expect, it } from "vitest";
import { bearer, issueToken } from "../../client-token.ts";
import { startMirror } from "../../running-mirror.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";
import { startOrigins } from "../../scenes/world.ts";

const providers = "providers.example.com";
const modules = "registry.terraform.io";
const published = "2024-02-03T04:05:06.000Z";

const { registry, modules: origin, ca } = await startOrigins();
await registry.publish({ type: "demo", version: "1.0.0" });
for (const version of ["1.0.0", "2.0.0"])
  origin.publish("acme/network/aws", version, "./network.zip");
origin.answer("/v2/modules/acme/network/aws", {
  included: [
    { attributes: { version: "1.0.0", "published-at": published } },
    { attributes: { version: "2.0.0", "published-at": new Date() } },
  ],
});
const ci = issueToken("ci");
const rule = { match: `${modules}/*/*/*`, action: "allow", minimumAge: "3d" };
const mirror = await startMirror({
  config: {
    auth: { tokens: [ci.configured] },
    origins: {
      [modules]: { url: origin.url, ca },
      [providers]: { url: registry.url, ca },
    },
    policy: { rules: [rule] },
  },
});

const ask = (path: string) => mirror.get(path, bearer(ci.token));
const provider = (version: string) =>
  ask(`/v1/providers/${providers}/acme/demo/${version}`);
const module = (version: string) =>
  ask(`/v1/modules/${modules}/acme/network/aws/${version}`);

it("the document of one version says of a provider what is known, and of a module when it was published, where its registry does", async () => {
  const answer = await provider("1.0.0");
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.json()).toEqual({
    ...{ id: "acme/demo/1.0.0", namespace: "acme", name: "demo" },
    ...{ version: "1.0.0", protocols: ["5.0"] },
  });
  expect((await module("1.0.0")).json()).toEqual({
    ...{ id: "acme/network/aws/1.0.0", namespace: "acme", name: "network" },
    ...{ provider: "aws", version: "1.0.0", published_at: published },
  });
});

it("the document of one version is there for what clients may have alone", async () => {
  expect((await provider("9.0.0")).status).toBe(404);
  expect((await provider("versionz")).status).toBe(400);
  expect(outcomeOf(await module("2.0.0"))).toBe("451 too-young");
  expect((await module("9.0.0")).status).toBeGreaterThanOrEqual(404);
});

const wellKnown = ".well-known/terraform.json";

it("service discovery names the services of the first origin, and below its path those of each, for everybody", async () => {
  for (const [base, of] of [
    ["", `/${modules}`],
    [`registry/${providers}/`, ""],
  ]) {
    const answer = await mirror.get(`/${base}${wellKnown}`);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      "providers.v1": `${mirror.url}${base}v1/providers${of}/`,
      "modules.v1": `${mirror.url}${base}v1/modules${of}/`,
    });
  }
  expect((await mirror.get(`/registry/a_b/${wellKnown}`)).status).toBe(400);
});
