import { expect, it } from "vitest";
import { startWorld } from "../scenes/world.ts";

const { registry, mirror } = await startWorld();
await registry.publish({ type: "net", version: "1.0.0" });

const name = "registry.terraform.io/acme/net";
const documents = [
  "index.json",
  "1.0.0.json",
  "1.0.0-rc1+5.json",
  "terraform-provider-net_1.0.0_linux_amd64.zip",
];
const bases = [
  "v1/",
  "v1/providers/",
  "v1/modules/",
  "provider/",
  "mirror/v1/",
  "providers/registry.terraform.io/",
  "registry/registry.terraform.io/",
  "browse/",
  "Providers/",
];

it.each([
  ...bases.map((base) => [base, "index.json"] as const),
  ...documents.map((file) => ["", file] as const),
])(
  "below %j, %s is answered with the right url, and never with 404",
  async (base, file) => {
    const answer = await mirror.get(`${base}${name}/${file}`);
    const right = `${mirror.url}providers/`;
    expect(answer.status).toBe(400);
    expect(answer.reason).toContain(`see ${right}`);
    expect(answer.json()).toMatchObject({ code: "wrong-mirror-url" });
    expect(answer.body.toString()).toContain(right);
  },
);

it("the right url is answered as ever, and other paths are not found", async () => {
  for (const file of ["index.json", "1.0.0.json"])
    expect((await mirror.get(`providers/${name}/${file}`)).status).toBe(200);
  for (const path of ["nothing", "v1/nothing.json", "v2/x.zip"])
    expect((await mirror.get(path)).status).toBe(404);
});
