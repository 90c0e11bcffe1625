# Two images, both without privileges of any kind:
#   docker build -t faraday .                          faraday and a shell
#   docker build -t faraday-agent --target with-agent .  the same with Claude Code
FROM debian:bookworm-slim AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates libseccomp2 nodejs npm \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN npm ci && npm run build

FROM debian:bookworm-slim AS base
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates curl git jq procps \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --shell /bin/bash --uid 1000 agent \
  && install -d -o agent -g agent /workspace
COPY --from=build /source/dist/faraday /usr/local/bin/faraday
COPY scripts/docker-entrypoint /usr/local/bin/docker-entrypoint
COPY --chown=agent:agent policies /workspace/policies
WORKDIR /workspace
ENTRYPOINT ["docker-entrypoint"]

FROM base AS with-agent
RUN apt-get update \
  && apt-get install -y --no-install-recommends nodejs npm \
  && rm -rf /var/lib/apt/lists/* \
  && npm install --global @anthropic-ai/claude-code \
  && npm cache clean --force
USER agent
CMD ["sleep", "infinity"]

# The last one is what `docker build` makes when it is asked for none.
FROM base AS plain
USER agent
CMD ["bash"]
