// Sends what comes in at /pub to everybody at /sub, on the package `ws`. Prints its port.
import http from 'node:http';
import { WebSocketServer } from 'ws';

const server = http.createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
const subscribers = new Set();
sockets.on('connection', (socket, request) => {
  socket.on('error', () => {});
  if (request.url === '/pub') {
    socket.on('message', (data) => {
      // Bridges broadcast strings.
      const text = data.toString();
      for (const subscriber of subscribers) {
        if (subscriber.readyState === 1) subscriber.send(text);
      }
    });
    return;
  }
  subscribers.add(socket);
  socket.on('message', () => {});
  socket.on('close', () => subscribers.delete(socket));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
