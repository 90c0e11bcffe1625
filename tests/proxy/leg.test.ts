import { expect, test } from "bun:test";
import type { Socket } from "bun";
import { Leg, type SocketOwner } from "../../src/proxy/leg.ts";

const LARGE = "x".repeat(64 * 1024);

/** A leg over a socket that notes what is done to it, and takes at most so many bytes a call. */
function legOver(room = Number.POSITIVE_INFINITY): { leg: Leg; done: string[] } {
  const done: string[] = [];
  const socket = {
    write: (bytes: Uint8Array) => {
      const taken = Math.min(room, bytes.length);
      if (taken > 0) done.push(Buffer.from(bytes.subarray(0, taken)).toString());
      return taken;
    },
    shutdown: () => void done.push("<shutdown>"),
    end: () => void done.push("<end>"),
    terminate: () => void done.push("<terminate>"),
  };
  return { leg: new Leg(socket as unknown as Socket<SocketOwner>, () => 0), done };
}

test.each<{ because: string; work: (leg: Leg) => void; done: string[] }>([
  {
    because: "a body that comes at once leaves together with its head",
    work: (leg) => void leg.write(Buffer.from("body")),
    done: ["head body"],
  },
  { because: "a head without a body waits for none", work: () => {}, done: ["head "] },
  {
    because: "a large body is not copied",
    work: (leg) => void leg.write(Buffer.from(LARGE)),
    done: ["head ", LARGE],
  },
  {
    because: "two heads keep their order",
    work: (leg) => leg.writeHead(Buffer.from("second")),
    done: ["head ", "second"],
  },
  {
    because: "the end of a half comes behind it",
    work: (leg) => leg.finish(),
    done: ["head ", "<shutdown>"],
  },
  { because: "so does a close", work: (leg) => leg.close(), done: ["head ", "<end>"] },
  { because: "a cut loses it", work: (leg) => leg.destroy(), done: ["<terminate>"] },
])("writeHead(): $because", async ({ work, done }) => {
  const { leg, done: seen } = legOver();
  leg.writeHead(Buffer.from("head "));
  work(leg);
  await Promise.resolve();
  expect(seen).toEqual(done);
});

test("writeHead(): what the kernel does not take at once keeps its order", async () => {
  const { leg, done } = legOver(3);
  leg.writeHead(Buffer.from("head "));
  expect(leg.write(Buffer.from("body"))).toBeFalse();
  leg.writeHead(Buffer.from("!"));
  await Promise.resolve();
  expect(leg.isBacklogged).toBeTrue();
  for (let n = 0; n < 4; n++) leg.flushed();
  expect(done.join("")).toBe("head body!");
  expect(leg.bytesOut).toBe("head body!".length);
});
