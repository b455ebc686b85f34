import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ArrayFile;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MapFile;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.SequenceFile.Metadata;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Hadoop's own reader and writer, for tests/nutch/hadoop.rs.
 *
 * write DIR: sequence-{none,record,block}, map-{none,block}, array.
 * read FILE: "version codec metadata", then a line "key<TAB>value" for each record of a SequenceFile.
 * map DIR: the same for a MapFile, then "get<TAB>value" of each key again, from the last to the first.
 */
public class Interop {
  static final int SEQUENCE_RECORDS = 200;
  static final int MAP_RECORDS = 400;
  static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  static Configuration conf() {
    Configuration conf = new Configuration();
    // Without files of checksums beside.
    conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    conf.setInt("io.seqfile.compress.blocksize", 3000);
    return conf;
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "write": write(new Path(args[1])); break;
      case "read": read(new Path(args[1])); break;
      case "map": map(new Path(args[1])); break;
      default: throw new IllegalArgumentException(args[0]);
    }
  }

  static String key(int i) { return String.format("key-%05d", i * 2); }

  static String value(int i) { return "value " + i + " é€😀"; }

  static void write(Path folder) throws Exception {
    for (CompressionType type : CompressionType.values()) {
      String name = type.name().toLowerCase();
      Metadata metadata = new Metadata();
      metadata.set(new Text("written by"), new Text("hadoop"));
      try (SequenceFile.Writer out = SequenceFile.createWriter(conf(),
          SequenceFile.Writer.file(new Path(folder, "sequence-" + name)),
          SequenceFile.Writer.keyClass(LongWritable.class),
          SequenceFile.Writer.valueClass(Text.class),
          SequenceFile.Writer.metadata(metadata),
          SequenceFile.Writer.syncInterval(500),
          SequenceFile.Writer.compression(type))) {
        for (int i = 0; i < SEQUENCE_RECORDS; i++) {
          out.append(new LongWritable(i * 1000L - 5000), new Text(value(i)));
        }
      }
    }
    for (CompressionType type : new CompressionType[] {CompressionType.NONE, CompressionType.BLOCK}) {
      try (MapFile.Writer out = new MapFile.Writer(conf(),
          new Path(folder, "map-" + type.name().toLowerCase()),
          MapFile.Writer.keyClass(Text.class), MapFile.Writer.valueClass(Text.class),
          MapFile.Writer.compression(type))) {
        for (int i = 0; i < MAP_RECORDS; i++) {
          out.append(new Text(key(i)), new Text("value " + i));
        }
      }
    }
    try (ArrayFile.Writer out = new ArrayFile.Writer(conf(),
        new Path(folder, "array").getFileSystem(conf()), new Path(folder, "array").toString(),
        Text.class, CompressionType.NONE, null)) {
      for (int i = 0; i < MAP_RECORDS; i++) {
        out.append(new Text("value " + i));
      }
    }
  }

  static void read(Path path) throws Exception {
    try (SequenceFile.Reader in = new SequenceFile.Reader(conf(), SequenceFile.Reader.file(path))) {
      OUT.println(in.getCompressionType() + " " + in.getMetadata().getMetadata());
      Writable key = (Writable) ReflectionUtils.newInstance(in.getKeyClass(), conf());
      Writable value = (Writable) ReflectionUtils.newInstance(in.getValueClass(), conf());
      while (in.next(key, value)) {
        OUT.println(key + "\t" + value);
      }
    }
  }

  static void map(Path path) throws Exception {
    java.util.ArrayDeque<byte[]> keys = new java.util.ArrayDeque<>();
    try (MapFile.Reader in = new MapFile.Reader(path, conf())) {
      WritableComparable<?> key = (WritableComparable<?>) ReflectionUtils.newInstance(in.getKeyClass(), conf());
      Writable value = (Writable) ReflectionUtils.newInstance(in.getValueClass(), conf());
      while (in.next(key, value)) {
        OUT.println(key + "\t" + value);
        keys.push(org.apache.hadoop.io.WritableUtils.toByteArray(key));
      }
      for (byte[] bytes : keys) {
        key.readFields(new java.io.DataInputStream(new java.io.ByteArrayInputStream(bytes)));
        OUT.println("get\t" + in.get(key, value));
      }
    }
  }
}
