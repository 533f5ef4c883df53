# The image of Guestlist: gateway and service in one process. docs/how-to/deploy.md says how to run it.
# A mirror, another release of Node, or a digest: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:...
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY build.mjs web-bundle.mjs tsconfig.json tsconfig.build.json ./
COPY src src
# The pages that the service shows at /docs.
COPY README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY test/bench/RESULTS.md test/bench/
COPY docs docs
COPY config config
# WITHOUT=studio leaves the web app for builders and operators out.
ARG WITHOUT=
RUN node build.mjs --quiet ${WITHOUT:+--without "${WITHOUT}"}

# The packages that the product needs at run time, and the list of them (SBOM, CycloneDX).
FROM ${NODE_IMAGE} AS packages
WORKDIR /guestlist
COPY .npmrc package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts \
 && npm pkg delete devDependencies \
 && npm sbom --omit=dev --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Guestlist" \
      org.opencontainers.image.description="Embedded analytics for SaaS: each tenant sees its own numbers" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${NODE_IMAGE}"
# Package managers have no use at run time. The data folder belongs to the user that the process runs as; a new volume
# takes over its owner and mode.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn-* \
 && install -d -o 10001 -g 10001 -m 0700 /data
WORKDIR /app
COPY --from=packages /guestlist/node_modules node_modules
COPY --from=packages /guestlist/sbom.cdx.json ./
COPY --from=build /build/dist dist
COPY package.json deploy/healthcheck.mjs ./
COPY bin bin
COPY config config
# Every file above belongs to root: the process can change nothing but its data folder.
USER 10001:10001
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    GUESTLIST_DATA_DIR=/data
VOLUME ["/data"]
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["node", "healthcheck.mjs", "/healthz"]
ENTRYPOINT ["node", "bin/guestlist.mjs"]
CMD ["serve"]
