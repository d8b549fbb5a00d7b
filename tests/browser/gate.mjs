/** A reverse proxy as people put one before a bridge: under a path of its own, and sometimes gone. */
import { createServer, request } from 'node:http';
import { connect } from 'node:net';

export class Gate {
  #server;
  #sockets = new Set();
  #target = 0;
  #shut = false;
  #swallows = false;
  #frozen = false;

  /** Opens one at a free port, for what is under `path`; some proxies take that away from what they pass on. */
  static async open(path, strips = false) {
    const gate = new Gate();
    gate.path = path;
    gate.strips = strips;
    gate.#server = createServer((asked, answer) => gate.#http(asked, answer));
    gate.#server.on('upgrade', (asked, socket, head) => gate.#upgrade(asked, socket, head));
    gate.#server.on('connection', (socket) => gate.#came(socket));
    await new Promise((resolve) => { gate.#server.listen(0, '127.0.0.1', resolve); });
    gate.url = `http://127.0.0.1:${gate.#server.address().port}${path}`;
    return gate;
  }

  to(port) {
    this.#target = port;
  }

  /** Breaks every connection and lets nobody in. */
  shut() {
    this.#shut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Lets everybody in again. */
  unshut() {
    this.#shut = false;
  }

  /** Passes nothing on and breaks nothing, as a network does that is gone; or goes on. */
  freeze(frozen = true) {
    this.#frozen = frozen;
    for (const socket of this.#sockets) frozen ? socket.pause() : socket.resume();
  }

  /** Lets what is asked next come through, and breaks the connection instead of letting the answer back. */
  swallowNextAnswer() {
    this.#swallows = true;
  }

  close() {
    this.shut();
    this.#server.close();
  }

  #came(socket) {
    socket.on('error', () => {});
    if (this.#shut) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    if (this.#frozen) socket.pause();
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #onward(url) {
    return this.strips ? url.slice(this.path.length) || '/' : url;
  }

  #http(asked, answer) {
    if (!asked.url.startsWith(this.path)) {
      answer.writeHead(404).end();
      return;
    }
    const there = { host: '127.0.0.1', port: this.#target, path: this.#onward(asked.url), method: asked.method, headers: asked.headers };
    const onward = request(there, (reply) => {
      answer.writeHead(reply.statusCode, reply.headers);
      reply.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  }

  #upgrade(asked, socket, head) {
    const onward = connect(this.#target, '127.0.0.1', () => {
      const headers = Object.entries(asked.headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
      onward.write(`GET ${this.#onward(asked.url)} HTTP/1.1\r\n${headers}\r\n`);
      onward.write(head);
      onward.on('data', () => {
        if (!this.#swallows) return;
        this.#swallows = false;
        end();
      });
      onward.pipe(socket);
      socket.pipe(onward);
    });
    this.#came(onward);
    const end = () => {
      socket.destroy();
      onward.destroy();
    };
    for (const either of [socket, onward]) either.on('error', end).on('close', end);
  }
}
