import { expect, it } from "vitest";
import { issueToken } from "../../client-token.ts";
import { startMirror } from "../../running-mirror.ts";

const host = "b.example";

const { configured } = issueToken("ci");
const origins = { [host]: {}, "a.example": {} };
const mirror = await startMirror({
  config: { origins, auth: { tokens: [configured] } },
});

it("the mirror's own service discovery names the services of the first origin with exactly application/json, to everybody", async () => {
  const document = "/.well-known/terraform.json";
  const got = await mirror.get(document);
  const head = await mirror.get(document, { method: "HEAD" });
  expect(got.headers["content-type"]).toBe("application/json");
  expect(got.json()).toEqual({
    "providers.v1": `${mirror.url}v1/providers/${host}/`,
    "modules.v1": `${mirror.url}v1/modules/${host}/`,
  });
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect(head.headers["content-type"]).toBe("application/json");
});

it("the discovery of each origin is below a path of it, to everybody", async () => {
  const path = `/registry/${host}/.well-known/terraform.json`;
  const answer = await mirror.get(path);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.json()).toEqual({
    "providers.v1": `${mirror.url}registry/${host}/v1/providers/`,
    "modules.v1": `${mirror.url}registry/${host}/v1/modules/`,
  });
  const headers = { via: "1.1 proxy" };
  const relative = (await mirror.get(path, { headers })).json();
  const { "modules.v1": modules } = relative as Record<string, string>;
  const proxied = `https://proxy.example.com/tools${path}`;
  expect(new URL(String(modules), proxied).href).toBe(
    `https://proxy.example.com/tools/registry/${host}/v1/modules/`,
  );
  const bad = await mirror.get("/registry/a_b/.well-known/terraform.json");
  expect(bad.status).toBe(400);
});
