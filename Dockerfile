# One image for every role, with the program and its models. The build needs the network only for the package registry.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build

# The optional packages are not in the bundle. Removes the model runtime's binaries for other systems.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev \
 && find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 -type d \
      ! -path "*/linux/$(node -p process.arch)" -exec rm -rf {} +

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
COPY models models
COPY package.json LICENSE README.md CHANGELOG.md ./
LABEL io.modelcontextprotocol.server.name="io.github.carrel/carrel"
RUN mkdir --mode=700 /data && chown node:node /data
ENV NODE_ENV=production
ENV CARREL_HOME=/data
# Saves 40 to 70 MB: by default, Node.js lets more garbage accumulate in a busy server.
ENV NODE_OPTIONS=--max-semi-space-size=16
# Sharing is off: a container has one stdio client, or serves over HTTP.
ENV CARREL_ALONE=true
VOLUME /data
USER node
EXPOSE 8737
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8737/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/carrel.js"]
CMD ["serve", "--transport", "http", "--host", "0.0.0.0"]
