# What scripts/action/run says of the records of one run. All text from the log may be the agent's,
# so nothing of it reaches Markdown or a workflow command as it is.

def rows_max: 100;
def annotations_max: 10;
def text_max: 300;

def records: [inputs | (fromjson? // {event: "unreadable"}) | objects];
def denials: map(select(.action == "deny"));

# Control characters and those that turn the direction of text become visible.
def visible:
  explode
  | map(
      if . < 32 or . == 127 then
        "\\x" + (["0123456789abcdef" / "" | .[]] as $hex | $hex[. / 16 | floor] + $hex[. % 16])
      elif (. >= 128 and . < 160) or (. >= 8203 and . <= 8207) or (. >= 8232 and . <= 8238)
        or (. >= 8294 and . <= 8297) or . == 65279 then "\ufffd"
      else [.] | implode end
    )
  | if length > text_max then .[:text_max] + ["…"] else . end
  | add // "";

# Every character that Markdown or HTML could make something of as a number.
def markdown:
  visible | explode
  | map(if (. >= 48 and . <= 57) or (. >= 65 and . <= 90) or (. >= 97 and . <= 122) or . == 32
      or . == 45 or . == 47 then [.] | implode else "&#\(.);" end)
  | add // "";

def message: visible | gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
def property: message | gsub(":"; "%3A") | gsub(","; "%2C");

def word: if type == "string" then . else tojson end;
def subject:
  if (.argv | type) == "array" then .argv | map(word) | join(" ")
  elif .host != null then
    "\(.method // .call // .event | word) \(.host | word)"
      + (if .port == null then "" else ":\(.port | word)" end) + (.path // "" | word)
  elif .path != null then "\(.call // .event // "" | word) \(.path | word)"
  else del(.v, .ts, .session, .action, .rule_id, .reason, .event) | tojson end;
def rule: .rule_id // .event // "unknown" | word;
def reason: .reason // .grant // "" | word;

# The line of the policy that begins the rule's id, if the file has exactly one.
def line_of($id):
  [$text | split("\n") | to_entries[]
    | select(.value | test("^\\s*id\\s*=") and
        (contains("\"" + $id + "\"") or contains("'" + $id + "'")))
    | .key + 1]
  | if length == 1 then .[0] else null end;

def annotation:
  rule as $rule
  | line_of($rule) as $line
  | (if $line == null then "" else "file=\($policy | property),line=\($line)," end) as $where
  | (if .event == "exec-mismatch" then "error" else "warning" end) as $level
  | "::\($level) \($where)title=\("Faraday denied: " + $rule | property)::"
    + (subject + (if reason == "" then "" else " (" + reason + ")" end) | message);

def annotations:
  records | denials
  | (.[:annotations_max][] | annotation),
    (if length > annotations_max
      then "::notice title=Faraday::\(length - annotations_max) more denials are in the summary"
      else empty end);

def denied: records | denials | length;

def table:
  "| denied | rule | reason |", "|---|---|---|",
  (.[:rows_max][] | "| <code>\(subject | markdown)</code> | \(rule | markdown) | \(reason | markdown) |"),
  (if length > rows_max then "", "\(length - rows_max) more are in the audit log." else empty end);

def summary:
  records
  | (map(select(.event == "end")) | last) as $ending
  | (map(select(.event == "unreadable")) | length) as $unreadable
  | denials
  | "## Faraday", "",
    "Policy <code>\($policy | markdown)</code>, exit code \($exit), "
      + (if $ending == null then "no end recorded" else
          "\($ending.counts.allow // 0 | tonumber? // 0) programs allowed" end)
      + ", \(length) denied.",
    (if $unreadable > 0 then "", "\($unreadable) lines of the audit log cannot be read." else empty end),
    "",
    (if length > 0 then table, "" else empty end);
