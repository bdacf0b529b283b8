// A press on OPC UA by node-opcua, the third-party server of these tests: `node press.js FOLDER-FOR-CERTIFICATES`. It says
// READY and its port; for each line of its standard input SEEN and the writes and calls so far; it ends with its input.
const { OPCUAServer, Variant, DataType, StatusCodes, OPCUACertificateManager, nodesets } = require("node-opcua");

(async () => {
  const pki = new OPCUACertificateManager({ rootFolder: process.argv[2], automaticallyAcceptUnknownCertificate: false });
  await pki.initialize();
  const server = new OPCUAServer({
    port: 0,
    hostname: "127.0.0.1",
    resourcePath: "/press",
    serverCertificateManager: pki,
    nodeset_filename: [nodesets.standard],
    buildInfo: { productName: "Press", softwareVersion: "3.2", buildNumber: "7", buildDate: new Date(2026, 0, 1) },
    serverCapabilities: {
      maxBrowseContinuationPoints: 3,
      operationLimits: { maxNodesPerRead: 100, maxNodesPerWrite: 10, maxNodesPerBrowse: 20 },
    },
    userManager: { isValidUser: (name, password) => name === "operator" && password === "right" },
  });
  await server.initialize();
  const space = server.engine.addressSpace;
  const own = space.getOwnNamespace();
  const press = own.addObject({ organizedBy: space.rootFolder.objects, browseName: "Press", nodeId: "s=Press" });
  for (let n = 0; n < 350; n++) {
    own.addVariable({
      componentOf: press, browseName: `Station${n}`, nodeId: `s=Press.Station${n}`, dataType: "Double",
      value: { dataType: DataType.Double, value: n },
    });
  }
  const seen = { writes: 0, calls: 0 };
  let kilonewtons = 10;
  const force = own.addAnalogDataItem({
    componentOf: press, browseName: "Force", nodeId: "s=Press.Force", dataType: "Float",
    engineeringUnitsRange: { low: 0, high: 100 }, instrumentRange: { low: 0, high: 100 },
    engineeringUnits: {
      namespaceUri: "http://www.opcfoundation.org/UA/units/un/cefact", unitId: 4338000, displayName: "kN", description: "kilonewton",
    },
    accessLevel: "CurrentRead | CurrentWrite | HistoryRead", userAccessLevel: "CurrentRead | CurrentWrite | HistoryRead",
    value: {
      get: () => new Variant({ dataType: DataType.Float, value: kilonewtons }),
      set: (variant) => {
        seen.writes++;
        if (variant.value < 0 || variant.value > 100) return StatusCodes.BadOutOfRange;
        kilonewtons = variant.value;
        return StatusCodes.Good;
      },
    },
  });
  const stroke = own.addVariable({
    componentOf: press, browseName: "Strokes", nodeId: "s=Press.Strokes", dataType: "UInt32",
    value: { dataType: DataType.UInt32, value: 0 },
  });
  space.installHistoricalDataNode(stroke, { maxOnlineValues: 500 });
  const began = Date.now() + 1000;
  for (let n = 1; n <= 300; n++) {
    stroke.setValueFromSource({ dataType: DataType.UInt32, value: n }, StatusCodes.Good, new Date(began + n));
  }
  const argument = (name) => ({ name, dataType: DataType.UInt32, description: { text: name } });
  const add = own.addMethod(press, {
    browseName: "Add", nodeId: "s=Press.Add",
    inputArguments: [argument("first"), argument("second")], outputArguments: [argument("sum")],
  });
  add.bindMethod((inputs, context, done) => {
    seen.calls++;
    const sum = inputs[0].value + inputs[1].value;
    done(null, { statusCode: StatusCodes.Good, outputArguments: [{ dataType: DataType.UInt32, value: sum }] });
  });
  await server.start();
  console.log(`READY ${server.endpoints[0].port}`);
  process.stdin.on("data", () => console.log(`SEEN ${seen.writes} ${seen.calls}`));
  process.stdin.on("end", async () => {
    await server.shutdown(0);
    process.exit(0);
  });
  process.stdin.resume();
})().catch((fault) => {
  console.error(fault);
  process.exit(1);
});
