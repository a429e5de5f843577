import { afterAll } from "vitest";
import { endStarted } from "./file-end.ts";

afterAll(endStarted);
