import { describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { hops, never, startHome } from "../clients.ts";

const documents = { "/document": '{"a":1}' };
const { authority, home, clientOf, urlOf } = await startHome(documents);
const { home: other } = await startHome(documents, authority);
const otherDocument = new URL("/document", other.url).href;
const open = { allowPrivateAddresses: true };

/** Asks for a path of home that leads to another place. */
function follow(
  location: string,
  settings: Parameters<typeof clientOf>[0] = {},
  status = 302,
) {
  home.script("other", [faults.redirect(location, status)]);
  return clientOf(settings).fetchJson(urlOf("/old"), never);
}

describe("a redirect", () => {
  it("is followed ten times and not eleven, and the last URL is reported", async () => {
    const client = clientOf();
    home.script("other", hops("/document"));
    const answer = await client.fetchJson(urlOf("/hop/9"), never);
    expect(answer.url.href).toBe(urlOf("/document").href);
    expect(home.requests.count()).toBe(11);
    home.requests.clear();
    await expect(client.fetchJson(urlOf("/hop/10"), never)).rejects.toThrow(
      /redirects more than 10 times/,
    );
    expect(home.requests.count()).toBe(11);
  });

  it("has one of five statuses, and a place", async () => {
    for (const code of [301, 302, 303, 307, 308])
      expect((await follow("/document", {}, code)).value).toEqual({ a: 1 });
    for (const code of [300, 304, 305])
      await expect(follow("/document", {}, code)).rejects.toThrow(
        `status ${code}`,
      );
    for (const place of ["https://", "https://[::1", "//"])
      await expect(follow(place)).rejects.toThrow(/Location/);
  });

  it("to a name of a private address is followed with allowPrivateAddresses alone", async () => {
    const configured = new Set([`127.0.0.1:${home.port}`]);
    await expect(follow("https://localhost/", { configured })).rejects.toThrow(
      /leads to an address that is not public/,
    );
    const place = `https://localhost:${other.port}/document`;
    expect((await follow(place, open)).value).toEqual({ a: 1 });
    expect(other.requests.count()).toBe(1);
  });
});

describe("the origin's token", () => {
  const settings = { token: "sesame", ...open };

  it("goes to the origin's own scheme, host and port, redirected or not", async () => {
    await follow("/document", settings);
    const sent = home.requests.list().map((one) => one.headers.authorization);
    expect(sent).toEqual(["Bearer sesame", "Bearer sesame"]);
  });

  it.each([
    ["another port", otherDocument, other],
    ["another name", `https://localhost:${home.port}/document`, home],
  ])("does not go to %s, asked or redirected", async (_, target, reached) => {
    await clientOf(settings).fetchJson(new URL(target), never);
    await follow(target, settings);
    const asked = reached.requests.list("other");
    for (const one of [asked.at(0), asked.at(-1)]) {
      expect(one?.path).toBe("/document");
      expect(one?.headers.authorization).toBeUndefined();
    }
  });

  it.each<[string, Fault]>([
    ["a refusal", faults.status(401)],
    ["a failure", faults.status(500)],
    ["a pause", faults.status(429)],
    ["a page for people", faults.html],
    ["nonsense", faults.body("{ hush")],
    ["a cut", faults.cut(3)],
    ["no answer", faults.close],
    ["a redirect to plain http", faults.redirect("http://a:hush@b/?c=hush")],
  ])(
    "is in no error, and no signature of a URL, after %s",
    async (_, fault) => {
      const client = clientOf(settings);
      home.script("other", faults.redirect(`${otherDocument}?sig=hush`));
      other.script("other", fault);
      const asked = client.fetchJson(urlOf("/document?sig=hush"), never);
      await expect(asked).rejects.toThrow(/^[^?]+$/);
      await expect(asked).rejects.not.toThrow(/sesame|hush/);
    },
  );
});

describe("a login in a URL", () => {
  const asked = (url: string, login: string) =>
    new URL(url.replace("//", `//${login}@`));

  it.each([
    ["me:secret", "me:secret"],
    ["me", "me:"],
    ["me%40home:a%2Fb%20%C3%A9%zz", "me@home:a/b \u00e9%zz"],
  ])("%s goes to its host and not on from there", async (written, sent) => {
    const basic = `Basic ${Buffer.from(sent).toString("base64")}`;
    home.script("other", [faults.redirect(otherDocument)]);
    await clientOf(open).fetchJson(asked(urlOf("/old").href, written), never);
    expect(home.requests.list()[0]?.headers.authorization).toBe(basic);
    expect(other.requests.list()[0]?.headers.authorization).toBeUndefined();
    await follow(asked(otherDocument, written).href, open);
    expect(other.requests.list().at(-1)?.headers.authorization).toBe(basic);
  });

  it("does not take the place of the origin's token, and is in no error", async () => {
    const client = clientOf({ ...open, token: "sesame" });
    home.script("other", faults.status(500));
    const url = asked(urlOf("/document").href, "me:secret");
    const refused = client.fetchJson(url, never);
    await expect(refused).rejects.not.toThrow(/me:|secret/);
    const [first] = home.requests.list();
    expect(first?.headers.authorization).toBe("Bearer sesame");
  });
});
