import { expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { startHome, never } from "../clients.ts";

const { home, clientOf, urlOf } = await startHome({
  "/document": '{"a":1}',
  "/archive": Buffer.alloc(1_000),
});
const askOf = (client = clientOf()) => {
  return () => client.fetchJson(urlOf("/document"), never);
};

const statuses = (...codes: readonly number[]) =>
  codes.map((code): [string, Fault] => [`${code}`, faults.status(code)]);

it.each<[string, Fault]>([
  ...statuses(408, 500, 502, 503, 504),
  ["a closed connection", faults.close],
  ["a body that is cut", faults.cut(3)],
])("asks again after %s, three times in all", async (_, fault) => {
  home.script("other", [fault, fault]);
  expect((await askOf()()).value).toEqual({ a: 1 });
  expect(home.requests.count()).toBe(3);
  home.script("other", [fault, fault]);
  const { size } = await clientOf().openArchive(urlOf("/archive"), never);
  expect(size).toBe(1_000);
  home.requests.clear();
  home.script("other", fault);
  await expect(askOf()()).rejects.toThrow(ProvenderError);
  expect(home.requests.count()).toBe(3);
});

it.each<[string, Fault]>([
  ...statuses(400, 401, 404, 451, 501),
  ["what is no JSON", faults.notJson],
  ["too much", faults.body("x".repeat(200_000))],
  ["a redirect to where it may not go", faults.redirect("https://10.0.0.1/")],
])("never asks again after %s", async (_, fault) => {
  home.script("other", fault);
  await expect(askOf()()).rejects.toThrow(ProvenderError);
  expect(home.requests.count()).toBe(1);
});

it("stops when the host is suspended meanwhile, and reports the failure", async () => {
  home.script("other", faults.status(502));
  const ask = askOf();
  const asked = await Promise.allSettled(Array.from({ length: 8 }, ask));
  for (const result of asked)
    expect(result).toMatchObject({ reason: { status: 502 } });
  const { length } = home.requests.list();
  expect(length).toBeLessThan(8 * 3);
  await expect(ask()).rejects.toThrow(failing("origin-suspended"));
  expect(home.requests.count()).toBe(length);
});

it("counts one failure however often a request was tried", async () => {
  home.script("other", faults.close);
  const client = clientOf();
  const suspended: boolean[] = [];
  for (let failure = 1; failure <= 5; failure++) {
    await expect(askOf(client)()).rejects.toThrow(
      failing("origin-unreachable"),
    );
    suspended.push(client.isSuspended(urlOf("/")));
  }
  expect(suspended).toEqual([false, false, false, false, true]);
});

it.each([429, 503])(
  "sends nothing to a host that asked for a pause with %i",
  async (code) => {
    const headers = { "Retry-After": "30" };
    home.script("other", faults.status(code, { headers }));
    const ask = askOf();
    for (let times = 0; times < 3; times++)
      await expect(ask()).rejects.toThrow(failing("origin-busy"));
    expect(home.requests.count()).toBe(1);
  },
);
