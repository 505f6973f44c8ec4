#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# man3.pl DIR VERSION DATE HEADER...: makes section 3 of the manual from the comments of public
# headers. mutex.h becomes DIR/zkr_mutex.3, and each function a page of its own that shows it.
use strict;
use warnings;
use Text::Wrap qw(wrap);

$Text::Wrap::columns = 72;
$Text::Wrap::huge = 'overflow';

my ($dir, $version, $date, @headers) = @ARGV;
my @pages = map { page_of($_) } grep { !/(zkr|export)\.h$/ } @headers;

sub page_of {
    my ($path) = @_;
    my ($name) = $path =~ m{([a-z_]+)\.h$};
    return {path => $path, header => $name, name => "zkr_$name"};
}

# ---- reading ----------------------------------------------------------------------

# The text of a comment without its frame.
sub bare {
    my ($comment) = @_;
    $comment =~ s{^/\*\*<?[ ]?}{};
    $comment =~ s{\s*\*/$}{};
    $comment =~ s{^[ \t]*\*[ ]?}{}mg;
    return $comment;
}

# A declaration up to its end, from where the reader stands.
sub declaration {
    my ($text) = @_;
    return $1 if $$text =~ /\G\s*(\#define\s(?:[^\n]*\\\n)*[^\n]*\n)/gc;
    return $1 if $$text =~ /\G\s*((?:typedef\s+)?(?:struct|enum)\s+\w+\s*\{.*?^\}[^;]*;)/gcms;
    return $1 if $$text =~ /\G\s*([^\#].*?;)/gcs;
    return undef;
}

sub read_header {
    my ($page) = @_;
    open(my $in, '<', $page->{path}) or die "$page->{path}: $!\n";
    local $/;
    my $text = <$in>;
    close($in);
    while ($text =~ m{\G.*?(/\*\*(?!<).*?\*/)[ ]*\n}gcs) {
        my $comment = bare($1);
        if ($comment =~ s/^\s*\@file \S+\n//) {
            $page->{about} = $comment;
            next;
        }
        my $code = declaration(\$text);
        next unless defined $code;
        push @{$page->{$code =~ /^ZKR_API/ ? 'functions' : 'types'}}, {comment => $comment, code => $code};
    }
    die "$page->{path}: no \@file comment\n" unless defined $page->{about};
}

# ---- writing ----------------------------------------------------------------------

sub escaped {
    my ($text) = @_;
    $text =~ s/\\/\\e/g;
    $text =~ s/-/\\-/g if $text =~ /^-|--/;
    $text =~ s/\*\*(.+?)\*\*/\\fB$1\\fP/gs;
    $text =~ s/`([^`]+)`/\\fB$1\\fP/g;
    $text =~ s/(?<![\w@.])\@([a-z]\w*)/\\fI$1\\fP/g;
    $text =~ s/\b(zkr_\w+|zoo_\w+|zookeeper_\w+)\(\)/\\fB$1\\fP()/g;
    return $text;
}

# Filled text: a sentence begins a line.
sub filled {
    my ($text) = @_;
    $text =~ s/\s+/ /g;
    $text =~ s/^ | $//g;
    my @lines;
    for my $sentence (split /(?<=[a-z0-9)`'"*A-Z]{2}[.:!?])[ ](?=[A-Z*`\@(])/, $text) {
        push @lines, split /\n/, wrap('', '', escaped($sentence));
    }
    return join '', map { s/^([.'])/\\&$1/; "$_\n" } @lines;
}

# A row of a table: its first cell, then what the others say.
sub row {
    my ($line) = @_;
    my (undef, $name, @cells) = split /\s*(?<!\\)\|\s*/, $line;
    return ".TP\n" . escaped($name) . "\n" . filled(join(': ', @cells));
}

# Paragraphs, lists with "- ", tables, and code that is indented by four.
sub prose {
    my ($text) = @_;
    my ($out, $first) = ('', 1);
    $text =~ s/^\s*\n|\s+$//g;
    for my $part (split /\n\s*\n/, $text) {
        if ($part =~ /^ {4}/) {
            $part =~ s/^ {4}//mg;
            $out .= ".PP\n" . literal($part);
        } elsif ($part =~ /^\|/) {
            my (undef, undef, @rows) = split /\n/, $part;
            $out .= row($_) for @rows;
        } elsif ($part =~ /^\s*- /m) {
            my ($lead, @items) = split /^\s*- /m, $part;
            $out .= ($first ? '' : ".PP\n") . filled($lead) if $lead =~ /\S/;
            $out .= ".IP \\(bu 3\n" . filled($_) for @items;
        } else {
            $out .= ($first ? '' : ".PP\n") . filled($part);
        }
        $first = 0;
    }
    return $out;
}

sub literal {
    my ($code) = @_;
    $code =~ s/\s+$//;
    $code =~ s/\\/\\e/g;
    $code =~ s/^([.'])/\\&$1/mg;
    return ".nf\n$code\n.fi\n";
}

# Code without comments, in as few lines as it takes.
sub signature {
    my ($code) = @_;
    $code =~ s{/\*.*?\*/}{}gs;
    $code =~ s/^ZKR_API\s+//;
    $code =~ s/\s+/ /g;
    $code =~ s/\( /(/g;
    return join '', map { s/^([.'])/\\&$1/; "$_\n" } split /\n/, wrap('', '    ', $code);
}

# What a contract says, in parts: text, parameters, facts such as "Blocks: no".
sub contract {
    my ($comment) = @_;
    my (@parameters, @facts);
    $comment =~ s/[ ]{2,}((?:Blocks|Threads|Session|Ownership|Cost|Curator|Since):)/\n$1/g;
    my ($text, $open) = ('', undef);
    for my $line (split /\n/, $comment) {
        if ($line =~ /^\@(\w+)\s+(.*)/) {
            push @parameters, [$1, $2];
            $open = $parameters[-1];
        } elsif ($line =~ /^(Blocks|Threads|Session|Ownership|Cost|Curator|Since):\s*(.*)/) {
            push @facts, [$1, $2];
            $open = $facts[-1];
        } elsif ($line =~ /^\s+\S/ && $open) {
            $line =~ s/^\s+//;
            $open->[1] .= "\n$line";
        } else {
            $open = undef;
            $text .= "$line\n";
        }
    }
    return ($text, \@parameters, \@facts);
}

sub function {
    my ($function) = @_;
    my ($name) = $function->{code} =~ /(zkr_\w+)\(/;
    my ($text, $parameters, $facts) = contract($function->{comment});
    my ($before, $returns) = split /^(?=Returns\b)/m, $text, 2;
    my $out = ".SS $name()\n.nf\n" . signature($function->{code}) . ".fi\n.PP\n" . prose($before);
    $out .= ".TP\n\\fI$_->[0]\\fP\n" . filled($_->[1]) for @$parameters;
    $out .= ".PP\n" . prose($returns) if defined $returns;
    $out .= ".TP\n\\fB$_->[0]\\fP\n" . filled($_->[1]) for @$facts;
    return $out;
}

# The members of a struct or enum that have a comment.
sub members {
    my ($code) = @_;
    my $out = '';
    my $end = $code =~ /^(?:typedef )?enum/ ? qr/,|(?=\s*[\/}])/ : qr/;/;
    $code =~ s/^[^{]*\{\n//;
    while ($code =~ m{\G\s*(?:/\*\*?(?!<)(.*?)\*/\s*)?([^;,{}/]+?)\s*(?:$end)[ ]*(?:/\*\*<(.*?)\*/)?}gcs) {
        my ($above, $what, $after) = ($1, $2, $3);
        my $said = defined $after ? $after : $above;
        next if $what =~ /^#/ || !defined $said;
        $what =~ s/\s+/ /g;
        $what =~ s/\* /*/g;
        $said =~ s/^\s*\*[ ]?//mg;
        $out .= ".TP\n\\fB" . escaped($what) . "\\fP\n" . filled($said);
    }
    return $out;
}

sub type_name {
    my ($code) = @_;
    my $name = $code =~ /^#define\s+(\w+)/ ? $1
        : $code =~ /^(?:typedef\s+)?((?:struct|enum)\s+\w+)\s*\{/ ? $1
        : $code =~ /\(\*(\w+)\)/ ? $1
        : $code =~ /(\w+);$/ ? $1 : die "what is declared here? $code\n";
    $name =~ s/^struct // if $code =~ /^typedef/;
    return $name;
}

sub type {
    my ($type) = @_;
    my $code = $type->{code};
    my $out = '.SS ' . type_name($code) . "\n";
    if ($code =~ /^#define/) {
        $out .= prose($type->{comment});
        while ($code =~ /\bX\((\w+), (-?\d+), \w+, "([^"]*)"\)/g) {
            $out .= ".TP\n\\fBZKR_$1\\fP, $2\n" . filled($3);
        }
        return $out;
    }
    $out .= ".nf\n" . signature($code) . ".fi\n.PP\n" unless $code =~ /\{/;
    my $members = $code =~ /\{/ ? members($code) : '';
    $out .= prose($type->{comment}) . $members;
    $out .= ".PP\n.nf\n" . signature($code) . ".fi\n" if $code =~ /^enum/ && !$members;
    return $out;
}

# What somebody may look up: functions, and types as they are declared with typedef.
sub names {
    my ($page) = @_;
    my %seen = ($page->{name} => 1);
    return grep { !$seen{$_}++ } map({ $_->{code} =~ /(zkr_\w+)\(/ ? $1 : () } @{$page->{functions} || []}),
        grep({ /^zkr_\w+$/ } map { type_name($_->{code}) } @{$page->{types} || []});
}

sub page {
    my ($page) = @_;
    my ($summary, $about) = split /\n\s*\n|\.\n/, $page->{about}, 2;
    $summary =~ s/\s+/ /g;
    $summary =~ s/[. ]+$//;
    my $out = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made from zkr/$page->{header}.h.\n";
    $out .= '.TH ' . uc($page->{name}) . " 3 $date \"zkrecipes $version\" \"Library Functions\"\n";
    $out .= ".SH NAME\n" . join(",\n", $page->{name}, names($page))
        . "\n\\- " . escaped(lcfirst $summary) . "\n";
    $out .= ".SH SYNOPSIS\n.nf\n#include <zkr/$page->{header}.h>\n";
    $out .= ".PP\n" . signature($_->{code}) for @{$page->{functions} || []};
    my $link = $page->{header} eq 'testing' ? '-lzkrecipes-testing -lzkrecipes' : '-lzkrecipes';
    $out .= ".PP\nLink with $link.\n.fi\n.SH DESCRIPTION\n" . prose(defined $about ? $about : "$summary.");
    $out .= ".SH TYPES\n" . join('', map { type($_) } @{$page->{types}}) if $page->{types};
    $out .= ".SH FUNCTIONS\n" . join('', map { function($_) } @{$page->{functions}}) if $page->{functions};
    my @others = map { "\\fB$_->{name}\\fP(3)" } grep { $_ != $page } @pages;
    $out .= ".SH SEE ALSO\n" . join(",\n", "\\fBzkr\\fP(1)", @others, "\\fBzkrecipes\\fP(7)") . "\n";
    return $out;
}

sub put {
    my ($file, $text) = @_;
    open(my $out, '>', "$dir/$file") or die "$dir/$file: $!\n";
    print $out $text;
    close($out) or die "$dir/$file: $!\n";
}

-d $dir or mkdir $dir or die "$dir: $!\n";
read_header($_) for @pages;
for my $page (@pages) {
    put("$page->{name}.3", page($page));
    put("$_.3", ".so man3/$page->{name}.3\n") for names($page);
}
