import { describe, expect, test } from "bun:test";
import { MountTable } from "../../src/launch/mount-table.ts";

const MOUNTS = new MountTable(
  [
    "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
    "2 1 8:2 / /home rw - ext4 /dev/sda2 rw",
    "3 1 8:2 /ann /mnt/ann rw - ext4 /dev/sda2 rw",
    "4 1 8:2 /ann/.ssh/keys /srv/my\\040keys rw - ext4 /dev/sda2 rw",
    "5 1 8:1 /var/lib /data rw - ext4 /dev/sda1 rw",
    "6 1 0:5 / /proc rw - proc proc rw",
  ].join("\n"),
);

describe("otherPlaces()", () => {
  test.each([
    { path: "/home/bob/x", places: [], because: "only ann is mounted again" },
    { path: "/home/ann/notes", places: ["/mnt/ann/notes"], because: "the mount covers it" },
    { path: "/mnt/ann/notes", places: ["/home/ann/notes"], because: "it works both ways" },
    {
      path: "/home/ann/.ssh",
      places: ["/mnt/ann/.ssh", "/srv/my keys"],
      because: "a part of it is mounted, under a name with a space",
    },
    { path: "/home/ann", places: ["/mnt/ann", "/srv/my keys"], because: "the root of a mount" },
    { path: "/var/lib/x", places: ["/data/x"], because: "the root's own file system" },
    { path: "/var", places: ["/data"], because: "a directory of it is mounted" },
    { path: "/proc/1", places: [], because: "another file system" },
  ])("$path: $places: $because", ({ path, places }) => {
    expect(MOUNTS.otherPlaces(path)).toEqual(places);
  });
});
