import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { RunningMirror } from "../running-mirror.ts";

/** Answer as text, read until the server closed the connection. */
export type RawAnswer = ReturnType<typeof parseAnswer>;

/** An open connection, for what an HTTP client would not send or would tidy. */
export async function openConnection(mirror: RunningMirror): Promise<Socket> {
  const { protocol, hostname: host, port } = new URL(mirror.url);
  if (protocol === "http:") return openTcp(mirror);
  const ca = readFileSync(mirror.caFile);
  const socket = connectTls({ host, port: Number(port), ca });
  await once(socket, "secureConnect");
  return socket;
}

/** A connection on which no handshake of TLS was begun. */
export async function openTcp(mirror: RunningMirror): Promise<Socket> {
  const { hostname: host, port } = new URL(mirror.url);
  const socket = connect({ host, port: Number(port) });
  await once(socket, "connect");
  return socket;
}

/** Sends text as it is and reads until the server closes; the client's side stays open. */
export async function exchange(
  mirror: RunningMirror,
  text: string,
): Promise<RawAnswer> {
  const socket = await openConnection(mirror);
  socket.write(text, "latin1");
  return parseAnswer(await readToEnd(socket));
}

/** The text that came until the connection ended, cleanly or not. */
export async function readToEnd(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  socket.on("error", () => undefined);
  // events.once would reject on a reset.
  await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(pieces).toString("latin1");
}

function parseAnswer(text: string) {
  const end = text.indexOf("\r\n\r\n");
  // The status line names a URL.
  const start = text.indexOf("\r\n");
  const headers = text.slice(start, end).matchAll(/^([^:\r\n]+):(.*)$/gm);
  return {
    status: Number(text.split(" ")[1]),
    headers: new Headers(
      Array.from(headers, ([, name = "", value = ""]) => [name, value.trim()]),
    ),
    body: text.slice(end + 4),
    text,
  };
}
