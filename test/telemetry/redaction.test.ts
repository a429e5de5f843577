import { expect, it } from "vitest";
import { redactTickets } from "../../src/telemetry/logger.ts";

const signature = "tH3sIgNaTuRe_0f-43-characters-1234567890ABC";
const ticket = `1795132800123.YWxpY2U.${signature}`;
const folder = "/providers/registry.terraform.io/acme/demo/";

it.each([
  `${folder}${ticket}/terraform-provider-demo_1.0.0_linux_amd64.zip/`,
  `${folder}${ticket}/x.zip.bak`,
  `${folder}${ticket}`,
  `${folder.toUpperCase()}${ticket.toUpperCase()}/X.ZIP`,
  `/${folder}//${ticket}//x.zip`,
  `${folder}${ticket.replaceAll(".", "%2E")}/x.zip`,
  `${folder}${ticket.replaceAll(".", "%252e")}/x.zip`,
  `${folder}${ticket.replace("1795", "%31%37%39%35")}/x.zip`,
  `${folder}%2F${ticket}%2Fx.zip`,
  `${folder}${ticket.replace("tH3s", "tH3s/")}/x.zip`,
  `${folder}${ticket.replace("tH3s", 'tH3s"')}/x.zip`,
  `${folder}${ticket.replace("tH3s", "tH3s\\")}/x.zip`,
  `${folder}1795132800123..${signature}/x.zip`,
  `${folder}00${ticket}/x.zip`,
  `${folder}x${ticket};x/x.zip`,
])("cuts the ticket out of %s", (path) => {
  const line = JSON.stringify({ path, error: `"${path}" is no address.` });
  const redacted = redactTickets(line);
  for (const part of [signature.slice(4, 30), "YWxpY2U"])
    expect(redacted.toLowerCase()).not.toContain(part.toLowerCase());
  expect(JSON.parse(redacted)).toHaveProperty("path");
});

it.each([
  `${folder}terraform-provider-demo_1.0.0_linux_amd64.zip`,
  `${folder}20261121100000.0.0.json`,
  `${folder}terraform-provider-demo_20261121100000.1.2-beta.1_linux_amd64.zip`,
  `${folder}4294967295.0.0.json`,
  "/v1/modules/registry.terraform.io/a/b/c/1.0.0/archive.tar.gz",
])("leaves %s as it is", (path) => {
  const line = JSON.stringify({
    time: "2026-11-21T10:00:00.123Z",
    path,
    ms: 1,
  });
  expect(redactTickets(line)).toBe(line);
});
